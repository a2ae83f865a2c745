import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { KnowledgeBaseService } from "#proto/core/v1/knowledge_base_service_pb.js";
import { Tier } from "#proto/core/v1/sharing_pb.js";
import { as, type Rig, startRig } from "../rig.js";

// Whose list of tools a write may change is told before the write is answered, and nobody else is.

let rig: Rig;

beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.close());
beforeEach(() => void rig.told.splice(0));

const { createKnowledgeBase, updateKnowledgeBase, deleteKnowledgeBase } = KnowledgeBaseService.method;

async function base(more: object = {}, who = "alice"): Promise<string> {
  const { knowledgeBase } = await rig.dispatch.unary(createKnowledgeBase, { name: "kb", ...more }, as(who));
  return knowledgeBase!.id;
}
const update = (knowledgeBaseId: string, changes: object) =>
  rig.dispatch.unary(updateKnowledgeBase, { knowledgeBaseId, ...changes }, as("alice"));

/** Whom a write tells; what it made is not of interest. */
async function told(write: Promise<unknown>): Promise<readonly string[]> {
  await write;
  return rig.told.splice(0).sort();
}

test("its owner hears of a knowledge base that is made, disabled, enabled and deleted", async () => {
  expect(await told(base())).toEqual(["alice"]);
  const id = await base();
  rig.told.splice(0);
  expect(await told(update(id, { enabled: false }))).toEqual(["alice"]);
  expect(await told(update(id, { name: "other", description: "nobody reaches more by that" }))).toEqual([]);
  expect(await told(update(id, { enabled: true }))).toEqual(["alice"]);
  expect(await told(rig.dispatch.unary(deleteKnowledgeBase, { knowledgeBaseId: id }, as("alice")))).toEqual(["alice"]);
});

test("those hear of it with whom it is shared, and everyone if they cannot be named", async () => {
  const id = await base();
  rig.told.splice(0);
  expect(await told(update(id, { share: [{ to: "user:bob", tier: Tier.VIEW }] }))).toEqual(["bob"]);
  // More of what is read already changes no list.
  expect(await told(update(id, { share: [{ to: "user:bob", tier: Tier.CONFIG }] }))).toEqual([]);
  expect(await told(update(id, { share: [{ to: "group:soc", tier: Tier.VIEW }] }))).toEqual(["everyone"]);
  expect(await told(update(id, { unshare: ["user:bob"] }))).toEqual(["bob"]);
  expect(await told(base({ companyManaged: true }, "root"))).toEqual(["everyone"]);
});

test("what no list depends on is told to nobody", async () => {
  const request = { name: "Analyst", instructions: "Look." };
  expect(await told(rig.dispatch.unary(AgentService.method.createAgent, request, as("alice")))).toEqual([]);
});
