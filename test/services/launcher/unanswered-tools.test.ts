import { expect, test } from "vitest";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { SkillService } from "#proto/core/v1/skill_service_pb.js";
import { unansweredTool } from "../../../services/launcher/unanswered-tools.js";
import { readImage } from "../../../services/shared/tools/image.js";

const image = readImage();

test("a tool that its service does not answer is named", () => {
  const all = [...AgentService.methods, ...SkillService.methods];
  expect(unansweredTool(image, ["core-objects"], all)).toBeUndefined();
  expect(unansweredTool(image, ["core-objects"], all.slice(1))).toBe(
    "core.v1.AgentService/ListAgents is a tool that core-objects does not answer",
  );
});

test("tools of services that do not run here are not asked for", () => {
  expect(unansweredTool(image, ["auth"], [])).toBeUndefined();
});
