import { performance } from "node:perf_hooks";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { DocumentService, DocumentState } from "#proto/core/v1/document_service_pb.js";
import { IntegrationService } from "#proto/core/v1/integration_service_pb.js";
import { KnowledgeBaseService } from "#proto/core/v1/knowledge_base_service_pb.js";
import { Tier } from "#proto/core/v1/sharing_pb.js";
import { as, type Rig, startRig } from "../rig.js";
import { type EndpointServer, startEndpoints } from "./endpoint-server.js";

// Who receives a question, and what endpoints that do not answer well cost.

const { createIntegration, updateIntegration } = IntegrationService.method;
const { createKnowledgeBase, searchKnowledge } = KnowledgeBaseService.method;
const { createDocument, readDocument } = DocumentService.method;

let rig: Rig;
let endpoints: EndpointServer;
beforeAll(async () => {
  endpoints = await startEndpoints();
  rig = await startRig({ knowledge: { pollMs: 20, heldUpMs: 50 } });
});
afterAll(async () => {
  await rig.close();
  await endpoints.close();
});

const everyone = [{ to: "everyone", tier: Tier.VIEW }];
let made = 0;

/** An integration of somebody, of which each is another one. */
async function integration(who: string, how: string, more: object = {}) {
  const whose = `${how}-${made++}`;
  const endpoint = endpoints.url(how, whose);
  const request = { name: whose, type: 1, endpoint, credential: "secret-credential", models: ["m"], ...more };
  const { integration: one } = await rig.dispatch.unary(createIntegration, request as never, as(who));
  return { id: one!.id, name: whose };
}

/** A knowledge base of somebody that everyone may search, with a document. */
async function base(who: string, integrationId = "", more: object = {}) {
  const request = { name: `${who}'s`, integrationId, sharing: everyone, ...more };
  const { knowledgeBase } = await rig.dispatch.unary(createKnowledgeBase, request, as(who));
  const id = knowledgeBase!.id;
  const document = await add(id, who);
  await ready(document, who);
  return id;
}

async function add(knowledgeBaseId: string, who: string): Promise<string> {
  const request = { knowledgeBaseId, name: "Runbook", content: "How to rotate a beacon of the zebrafish implant." };
  return (await rig.dispatch.unary(createDocument, request, as(who))).document!.id;
}

const read = async (documentId: string, who: string) =>
  (await rig.dispatch.unary(readDocument, { documentId }, as(who))).document!;
const ready = (id: string, who: string) =>
  vi.waitFor(async () => expect((await read(id, who)).state).toBe(DocumentState.READY), { timeout: 20_000 });

async function search(who: string, query: string, knowledgeBaseIds: string[] = []) {
  const began = performance.now();
  const { passages, wordsAlone } = await rig.dispatch.unary(
    searchKnowledge,
    { query, knowledgeBaseIds, limit: 30 },
    as(who),
  );
  const reasons = new Map(wordsAlone.flatMap((one) => one.knowledgeBases.map(({ id }) => [id, one.reason] as const)));
  return { ms: performance.now() - began, found: new Set(passages.map((one) => one.knowledgeBase!.id)), reasons };
}

test("a question goes to another user's endpoint only if its knowledge base is named, and is answered by words otherwise", async () => {
  const [bobs, companys, alices] = [
    await integration("bob", "good"),
    await integration("root", "good", { companyManaged: true }),
    await integration("alice", "good"),
  ];
  const his = await base("bob", bobs.id);
  const theirs = await base("root", companys.id, { companyManaged: true, sharing: [] });
  const hers = await base("alice", alices.id);

  const first = await search("alice", "secret zebrafish plan");
  expect(endpoints.asked(bobs.name)).not.toContain("secret zebrafish plan");
  expect(endpoints.asked(companys.name)).toContain("secret zebrafish plan");
  expect(endpoints.asked(alices.name)).toContain("secret zebrafish plan");
  expect([...first.reasons.keys()]).toEqual([his]);
  expect(first.reasons.get(his)).toContain("name the knowledge base in knowledge_base_ids");
  expect(first.found).toEqual(new Set([his, theirs, hers]));

  const named = await search("alice", "chosen zebrafish plan", [his]);
  expect(endpoints.asked(bobs.name)).toContain("chosen zebrafish plan");
  expect(named.reasons.size).toBe(0);
  expect((await search("bob", "bobs zebrafish plan")).reasons.has(his)).toBe(false);
  expect(endpoints.asked(bobs.name)).toContain("bobs zebrafish plan");
});

test("an endpoint that is silent costs its own knowledge base a second once, and the next search nothing", async () => {
  const own = await integration("alice", "silent");
  const [silent, plain] = [await base("alice", own.id), await base("alice")];
  await search("alice", "warm zebrafish", [plain]);
  const first = await search("alice", "quiet zebrafish", [silent, plain]);
  expect(first.ms).toBeLessThan(1_500);
  expect(first.reasons.get(silent)).toContain("does not answer within a second");
  expect(first.found).toEqual(new Set([silent, plain]));
  const second = await search("alice", "quiet zebrafish again", [silent, plain]);
  expect(second.ms).toBeLessThan(500);
  expect(endpoints.asked(own.name)).not.toContain("quiet zebrafish again");
});

test.each(["huge", "longer", "text"])(
  "an endpoint whose answer is %s costs its own knowledge base alone",
  async (how) => {
    const own = await integration("alice", how);
    const [bad, plain] = [await base("alice", own.id), await base("alice")];
    const { found, reasons } = await search("alice", `${how} zebrafish`, [bad, plain]);
    expect(found).toEqual(new Set([bad, plain]));
    expect([...reasons.keys()]).toEqual([bad]);
  },
  60_000,
);

test("an integration that is shared no longer embeds nothing: documents are found by their words and say why, and questions stay here", async () => {
  const bobs = await integration("bob", "good", { sharing: [{ to: "group:soc", tier: Tier.VIEW }] });
  const hers = await base("alice", bobs.id);
  expect((await search("alice", "shared zebrafish", [hers])).reasons.size).toBe(0);
  const share = (change: object) =>
    rig.dispatch.unary(updateIntegration, { integrationId: bobs.id, ...change } as never, as("bob"));
  await share({ unshare: ["group:soc"] });

  const before = endpoints.asked(bobs.name).length;
  const { reasons, found } = await search("alice", "unshared zebrafish", [hers]);
  expect(reasons.get(hers)).toContain("can no longer read the integration");
  expect(found).toEqual(new Set([hers]));
  const late = await add(hers, "alice");
  await vi.waitFor(async () => expect((await read(late, "alice")).problem).toContain("can no longer read"), 10_000);
  expect((await read(late, "alice")).state).toBe(DocumentState.WORDS);
  expect(endpoints.asked(bobs.name)).toHaveLength(before);

  await share({ share: [{ to: "group:soc", tier: Tier.VIEW }] });
  await ready(late, "alice");
});
