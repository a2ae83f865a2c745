import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { ScenarioService } from "#proto/aev/v1/scenario_service_pb.js";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { auditOf } from "../../../../../services/shared/rpc/steps/audit.js";

const { deleteScenario, createScenario } = ScenarioService.method;
const { updateAgent } = AgentService.method;
const { revokeApiKey } = ApiKeyService.method;

test.each([
  ["the id of our own API", revokeApiKey, create(revokeApiKey.input, { id: "k7" }), "k7"],
  ["an id by its noun", updateAgent, create(updateAgent.input, { agentId: "a1", name: "secret" }), "a1"],
  ["not the tenant", deleteScenario, create(deleteScenario.input, { tenantId: "t1", scenarioId: "s1" }), "s1"],
  ["nothing where nothing is named", createScenario, create(createScenario.input, { tenantId: "t1" }), undefined],
])("an audit line names what a call is about: %s", (_, method, request, target) => {
  expect(auditOf(method, request).target).toBe(target);
});

test("what it writes down of a request that breaks every rule is bounded", () => {
  const request = create(updateAgent.input, { agentId: "a".repeat(3_000_000) });
  expect(auditOf(updateAgent, request).target).toHaveLength(128);
});

test("it names arguments and never holds their values", () => {
  const line = auditOf(updateAgent, create(updateAgent.input, { agentId: "a1", name: "secret" }));
  expect(line).toEqual({ args: ["agent_id", "name"], target: "a1" });
});
