import type { MessageInitShape } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { IntegrationService, IntegrationType } from "#proto/core/v1/integration_service_pb.js";
import {
  type CreateKnowledgeBaseRequestSchema,
  KnowledgeBaseService,
  type UpdateKnowledgeBaseRequestSchema,
} from "#proto/core/v1/knowledge_base_service_pb.js";
import { refusal } from "./refusal.js";
import { as, type Rig, startRig } from "./rig.js";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.close());

const { createKnowledgeBase, updateKnowledgeBase, deleteKnowledgeBase } = KnowledgeBaseService.method;

async function create(who: string, request: MessageInitShape<typeof CreateKnowledgeBaseRequestSchema> = {}) {
  return (await rig.dispatch.unary(createKnowledgeBase, { name: "Runbooks", ...request }, as(who))).knowledgeBase!;
}

async function update(who: string, request: MessageInitShape<typeof UpdateKnowledgeBaseRequestSchema>) {
  return (await rig.dispatch.unary(updateKnowledgeBase, request, as(who))).knowledgeBase!;
}

async function integration(who: string, name: string): Promise<string> {
  const request = { type: IntegrationType.OPENAI, endpoint: "https://models.example.com/v1", models: ["large"] };
  const reply = await rig.dispatch.unary(IntegrationService.method.createIntegration, { name, ...request }, as(who));
  return reply.integration!.id;
}

test("an agent is given a knowledge base that its writer sees, which is then not deleted", async () => {
  const { id } = await create("alice");
  const { createAgent, updateAgent } = AgentService.method;
  const given = (who: string, request: object) => rig.dispatch.unary(createAgent, { name: "a", ...request }, as(who));
  const { agent } = await given("alice", { resourceIds: [id] });
  expect(agent!.knowledgeBases).toMatchObject([{ id, name: "Runbooks" }]);
  expect(await refusal(given("bob", { resourceIds: [id] }))).toEqual(["InvalidArgument", expect.stringContaining(id)]);
  const [code, said] = await refusal(rig.dispatch.unary(deleteKnowledgeBase, { knowledgeBaseId: id }, as("alice")));
  expect([code, said]).toEqual(["FailedPrecondition", expect.stringContaining(`a (${agent!.id})`)]);
  await rig.dispatch.unary(updateAgent, { agentId: agent!.id, removeResourceIds: [id] }, as("alice"));
  expect((await rig.dispatch.unary(deleteKnowledgeBase, { knowledgeBaseId: id }, as("alice"))).id).toBe(id);
});

test("it is embedded by the model of an integration that its writer sees, or by the built-in one", async () => {
  const [mine, other] = [await integration("alice", "mine"), await integration("alice", "other")];
  expect((await refusal(create("bob", { integrationId: mine })))[0]).toBe("InvalidArgument");
  expect((await refusal(create("alice", { embeddingModel: "large" })))[0]).toBe("InvalidArgument");
  const { id } = await create("alice", { integrationId: mine, embeddingModel: "embed" });
  const shownAfter = async (request: object) => {
    const after = await update("alice", { knowledgeBaseId: id, ...request });
    return [after.integration?.name, after.embeddingModel];
  };
  expect(await shownAfter({ description: "d" })).toEqual(["mine", "embed"]);
  expect(await shownAfter({ integrationId: other })).toEqual(["other", undefined]);
  const { deleteIntegration } = IntegrationService.method;
  const gone = rig.dispatch.unary(deleteIntegration, { integrationId: other }, as("alice"));
  expect(await refusal(gone)).toEqual(["FailedPrecondition", expect.stringContaining("Runbooks")]);
  expect(await shownAfter({ integrationId: "" })).toEqual([undefined, undefined]);
});
