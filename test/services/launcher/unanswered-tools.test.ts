import { expect, test } from "vitest";
import { unansweredTool } from "../../../services/launcher/unanswered-tools.js";
import { readImage } from "../../../services/shared/tools/image.js";
import { readTools } from "../../../services/shared/tools/tools.js";

const image = readImage();

test("a tool that its service does not answer is named", () => {
  const all = readTools(image).map(({ method }) => method);
  expect(unansweredTool(image, ["core-objects"], all)).toBeUndefined();
  expect(
    unansweredTool(
      image,
      ["core-objects"],
      all.filter(({ name }) => name !== "ListAgents"),
    ),
  ).toBe("core.v1.AgentService/ListAgents is a tool that core-objects does not implement");
});

test("tools of services that do not run here are not asked for", () => {
  expect(unansweredTool(image, ["auth"], [])).toBeUndefined();
});
