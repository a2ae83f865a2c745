import { afterEach, expect, test, vi } from "vitest";
import { DocumentService, DocumentState } from "#proto/core/v1/document_service_pb.js";
import { KnowledgeBaseService } from "#proto/core/v1/knowledge_base_service_pb.js";
import type { Embedder, Embedders } from "../../../../services/core-objects/knowledge/embedder.js";
import { createRanking } from "../../../../services/core-objects/knowledge/ranking.js";
import type { BlockRecord, DocumentRecord } from "../../../../services/core-objects/knowledge/records.js";
import { as, type Rig, startRig } from "../rig.js";

// Documents that are cut as finely as their owner can make it.

const { createKnowledgeBase, searchKnowledge } = KnowledgeBaseService.method;
const { createDocument, readDocument } = DocumentService.method;
const DIMENSIONS = 4_096;

let rig: Rig;
afterEach(() => rig.close());

/** An embedder that takes 20 ms for each text, as a busy model does, and gives long vectors. */
function slowEmbedders(ms = 20): Embedders {
  const slow: Embedder = {
    id: "slow",
    async embed(texts) {
      if (texts[0]!.includes("\n")) await new Promise((resolve) => setTimeout(resolve, ms * texts.length));
      return texts.map((text) => new Float32Array(DIMENSIONS).fill(text.length % 7 === 0 ? -1 / 64 : 1 / 64));
    },
  };
  return { of: async () => slow, byId: async () => slow, endpointsOf: async () => new Map(), async close() {} };
}

async function add(who: string, name: string, content: string): Promise<string> {
  const { knowledgeBase } = await rig.dispatch.unary(createKnowledgeBase, { name: "kb" }, as(who));
  const request = { knowledgeBaseId: knowledgeBase!.id, name, content };
  return (await rig.dispatch.unary(createDocument, request, as(who))).document!.id;
}
const read = async (documentId: string, who: string) =>
  (await rig.dispatch.unary(readDocument, { documentId }, as(who))).document!;
const ready = (id: string, who: string, timeout = 60_000) =>
  vi.waitFor(async () => expect((await read(id, who)).state).toBe(DocumentState.READY), { timeout, interval: 20 });

test("a document of 120 KB that could be 19,900 passages keeps nobody else waiting", async () => {
  rig = await startRig({ knowledge: { embedders: slowEmbedders(), pollMs: 20, turnMs: 200 } });
  const large = await add("alice", "large", "# a\nb\n".repeat(19_900));
  const also = await add("alice", "large too", "# a\nb\n".repeat(19_900));
  await vi.waitFor(async () => expect((await read(large, "alice")).percent).toBeGreaterThan(0), 20_000);
  const began = performance.now();
  const small = await add("bob", "small", "A few words.");
  await ready(small, "bob");
  expect(performance.now() - began).toBeLessThan(5_000);
  expect((await read(large, "alice")).state).toBe(DocumentState.WORDS);
  await ready(large, "alice");
  await ready(also, "alice");
  expect((await read(large, "alice")).passageCount).toBeLessThan(64 + (120 * 1_024) / 256);
});

test("36 KB of text with 4,096 dimensions take what their few passages take, on disk and in memory", async () => {
  rig = await startRig({ knowledge: { embedders: slowEmbedders(0), pollMs: 20 } });
  const id = await add("alice", "tiny", "# a\nb\n".repeat(6_000));
  await ready(id, "alice");
  const found = await rig.store.collection<BlockRecord>("knowledge_blocks").find({ document: id }).toArray();
  const bytes = found.reduce((sum, { vectors }) => sum + vectors.byteLength, 0);
  const before = process.memoryUsage.rss();
  await rig.dispatch.unary(searchKnowledge, { query: "b" }, as("alice"));
  const grown = process.memoryUsage.rss() - before;
  expect(bytes).toBeLessThan(4 * 2 ** 20);
  expect(grown).toBeLessThan(150 * 2 ** 20);
});

test("memory holds so much, and a search over more than that finds what all of it has", async () => {
  rig = await startRig({ knowledge: { embedders: slowEmbedders(0), pollMs: 20 } });
  const ids: string[] = [];
  for (let n = 0; n < 8; n++) ids.push(await add("alice", `d${n}`, `Unusual${n} words about it.\n\n`.repeat(3_000)));
  for (const id of ids) await ready(id, "alice");
  const [documents, blocks] = [
    rig.store.collection<DocumentRecord>("knowledge_documents"),
    rig.store.collection<BlockRecord>("knowledge_blocks"),
  ];
  const megabytes = 5;
  const ranking = createRanking({ documents, blocks, megabytes });
  const bases = [];
  for (const id of ids) {
    const { knowledge_base } = (await documents.findOne({ _id: id })) as DocumentRecord;
    bases.push({ id: knowledge_base, revision: "1" });
    await ranking.load(bases.at(-1)!, false);
    expect(ranking.heldBytes()).toBeLessThanOrEqual(megabytes * 2 ** 20);
  }
  const weights = { limit: 8, lexicalWeight: 1 };
  for (const n of [0, 7]) {
    const { hits, missing } = await ranking.rank({ query: `Unusual${n}`, vectors: {}, ...weights }, bases);
    expect(missing).toEqual([]);
    expect(hits[0]?.document).toBe(ids[n]);
    expect(ranking.heldBytes()).toBeLessThanOrEqual(megabytes * 2 ** 20);
  }
  await ranking.close();
});
