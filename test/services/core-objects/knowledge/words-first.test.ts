import { afterEach, expect, test, vi } from "vitest";
import { DocumentService, DocumentState } from "#proto/core/v1/document_service_pb.js";
import { KnowledgeBaseService } from "#proto/core/v1/knowledge_base_service_pb.js";
import { EmbedderError } from "../../../../services/core-objects/knowledge/embedder.js";
import type { BlockRecord, DocumentRecord } from "../../../../services/core-objects/knowledge/records.js";
import { as, type Rig, startRig } from "../rig.js";
import { plainEmbedders } from "./plain-embedder.js";

// A document is found by its words as soon as its passages are there; vectors are added later.

const { createKnowledgeBase, getKnowledgeBase, searchKnowledge } = KnowledgeBaseService.method;
const { createDocument, readDocument, listDocuments } = DocumentService.method;

let rig: Rig;
let knowledgeBaseId: string;
afterEach(() => rig.close());
let embedders: ReturnType<typeof plainEmbedders>;
async function start(before: (texts: readonly string[]) => unknown, more: object = {}): Promise<void> {
  embedders = plainEmbedders(before);
  rig = await startRig({ knowledge: { embedders, pollMs: 20, ...more } });
  const { knowledgeBase } = await rig.dispatch.unary(createKnowledgeBase, { name: "kb" }, as("alice"));
  knowledgeBaseId = knowledgeBase!.id;
}
const TEXT = Array.from({ length: 40 }, (_, i) => `# Part ${i}\n\nCase QX-${1_000 + i} is closed.`).join("\n\n");

async function add(content = TEXT): Promise<string> {
  const request = { knowledgeBaseId, name: "Runbook", content };
  return (await rig.dispatch.unary(createDocument, request, as("alice"))).document!.id;
}
const read = async (documentId: string) =>
  (await rig.dispatch.unary(readDocument, { documentId }, as("alice"))).document!;
const inState = (id: string, state: DocumentState) =>
  vi.waitFor(async () => expect((await read(id)).state).toBe(state), { timeout: 20_000 });
const search = async (query: string, who = "alice") =>
  (await rig.dispatch.unary(searchKnowledge, { query, limit: 3 }, as(who))).passages;

/** Holds vectors up from a block on, until it is opened. */
function gateFrom(block: number): { before: () => Promise<void>; open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let blocks = 0;
  return { open, before: async () => (++blocks >= block ? opened : undefined) };
}

test("words find a document while its vectors are being made, and vectors add to them once all are there", async () => {
  const gate = gateFrom(2);
  await start(gate.before);
  const id = await add();
  await inState(id, DocumentState.WORDS);
  await vi.waitFor(async () => expect((await read(id)).percent).toBe(40));
  expect((await search("QX-1030"))[0]).toMatchObject({ text: "Case QX-1030 is closed.", version: 1, position: 31 });
  // Nobody else sees it for that.
  expect(await search("QX-1030", "bob")).toEqual([]);
  // No word of it: only vectors would find it, and those of the first block do not count alone.
  expect(await search("unrelated")).toEqual([]);
  const row = { id, state: DocumentState.WORDS, passageCount: 40, percent: 40 };
  const listed = (state: DocumentState) =>
    rig.dispatch.unary(listDocuments, { knowledgeBaseId, state }, as("alice")).then(({ documents }) => documents);
  expect(await listed(DocumentState.WORDS)).toMatchObject([row]);
  expect(await listed(DocumentState.WAITING)).toEqual([]);
  const base = () => rig.dispatch.unary(getKnowledgeBase, { knowledgeBaseId }, as("alice"));
  expect(await base()).toMatchObject({ documentCount: 1, waitingCount: 0, wordsCount: 1 });

  gate.open();
  await inState(id, DocumentState.READY);
  expect((await search("unrelated")).length).toBe(3);
  expect((await search("QX-1030"))[0]).toMatchObject({ position: 31 });
  expect(await base()).toMatchObject({ documentCount: 1, waitingCount: 0 });
});

test("a document whose vectors cannot be made is found by its words, and says so", async () => {
  await start(() => {
    throw new EmbedderError("the model is not known", false);
  });
  const id = await add();
  await inState(id, DocumentState.FAILED);
  expect((await read(id)).problem).toBe("its vectors cannot be made: the model is not known; it is found by its words");
  expect((await search("QX-1030"))[0]).toMatchObject({ position: 31 });
});

test("the words of all documents come before the vectors of long ones", async () => {
  const gate = gateFrom(1);
  await start(gate.before, { atOnce: 2 });
  const ids: string[] = [];
  for (let n = 0; n < 6; n++) ids.push(await add());
  for (const id of ids) await inState(id, DocumentState.WORDS);
  gate.open();
  for (const id of ids) await inState(id, DocumentState.READY);
});

test("another model is no step back: words and the vectors of before are searched until the new ones are there", async () => {
  await start(() => {});
  const id = await add();
  await inState(id, DocumentState.READY);
  const gate = gateFrom(2);
  embedders.of = plainEmbedders(gate.before).of;
  const bases = rig.store.collection("knowledge_bases");
  await bases.updateOne({ _id: knowledgeBaseId }, { $set: { integrations: ["other"], reembed: true } } as never);
  await inState(id, DocumentState.WORDS);
  await vi.waitFor(async () => expect((await read(id)).percent).toBe(40));
  expect((await search("QX-1030"))[0]).toMatchObject({ position: 31 });
  expect((await search("unrelated")).length).toBe(3);
  gate.open();
  await inState(id, DocumentState.READY);
  const blocks = await rig.store.collection<BlockRecord>("knowledge_blocks").find({ document: id }).toArray();
  expect(new Set(blocks.map(({ generation }) => generation))).toEqual(new Set([2]));
});

test("what is counted for a document is the same whether its words were searched before its vectors or not", async () => {
  const gate = gateFrom(2);
  await start(gate.before);
  const id = await add();
  await inState(id, DocumentState.WORDS);
  const held = async () =>
    (await rig.store.collection<DocumentRecord>("knowledge_documents").findOne({ _id: id }))!.held!;
  await vi.waitFor(async () => expect((await read(id)).percent).toBe(40));
  const before = await held();
  gate.open();
  await inState(id, DocumentState.READY);
  // Room for all vectors was taken before the first one was written.
  expect(await held()).toBe(before);
});
