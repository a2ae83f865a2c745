import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { DocumentService, DocumentState, DocumentType } from "#proto/core/v1/document_service_pb.js";
import { KnowledgeBaseService } from "#proto/core/v1/knowledge_base_service_pb.js";
import { Tier } from "#proto/core/v1/sharing_pb.js";
import { createCoreObjectsService } from "../../../../services/core-objects/service.js";
import { silentLog } from "../../../../services/shared/process/log.js";
import { refusal } from "../refusal.js";
import { as, type Rig, SEAL, startRig } from "../rig.js";
import { plainEmbedders } from "./plain-embedder.js";

let rig: Rig;
let held: (() => Promise<void>) | undefined;
let embedded: string[] = [];
const embedders = plainEmbedders(async (texts) => {
  embedded.push(...texts);
  await held?.();
});
beforeAll(async () => {
  rig = await startRig({ knowledge: { embedders, pollMs: 20, leaseMs: 1_000 } });
});
afterAll(() => rig.close());

const { createKnowledgeBase, getKnowledgeBase, deleteKnowledgeBase, updateKnowledgeBase, searchKnowledge } =
  KnowledgeBaseService.method;
const { createDocument, listDocuments, readDocument, updateDocument, deleteDocument } = DocumentService.method;

async function base(more: object = {}): Promise<string> {
  const request = { name: "Runbooks", ...more };
  return (await rig.dispatch.unary(createKnowledgeBase, request, as("alice"))).knowledgeBase!.id;
}
async function add(knowledgeBaseId: string, content: string, more: object = {}, who = "alice") {
  const request = { knowledgeBaseId, name: "Runbook", content, ...more };
  return (await rig.dispatch.unary(createDocument, request, as(who))).document!;
}
const read = (documentId: string, who = "alice") => rig.dispatch.unary(readDocument, { documentId }, as(who));
const search = async (query: string, more: object = {}, who = "alice") =>
  (await rig.dispatch.unary(searchKnowledge, { query, ...more }, as(who))).passages;
const ready = (documentId: string) =>
  vi.waitFor(async () => expect((await read(documentId)).document!.state).toBe(DocumentState.READY), {
    timeout: 10_000,
  });

function gateOf(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

const RUNBOOK = `# Phishing

Ask who received it.

## Contain

Block the sender at the gateway and purge the message from every mailbox.

# Ransomware

Isolate the host from the network before anything else.
`;

test("a document is added, becomes searchable, and what is found says where it stands", async () => {
  const id = await base();
  const added = await add(id, RUNBOOK, { name: "Runbook of the SOC" });
  expect(added).toMatchObject({ version: 1, state: DocumentState.WAITING, type: DocumentType.MARKDOWN });
  await ready(added.id);
  const [first] = await search("purge mailbox of sender", { knowledgeBaseIds: [id] });
  expect(first).toMatchObject({
    text: "Block the sender at the gateway and purge the message from every mailbox.",
    headings: ["Phishing", "Contain"],
    document: { id: added.id, name: "Runbook of the SOC" },
    knowledgeBase: { id, name: "Runbooks" },
    version: 1,
    position: 2,
  });
  const { text } = await read(added.id);
  expect(Buffer.from(text).subarray(first!.startByte, first!.endByte).toString()).toBe(first!.text);
  const { documents, totalSize } = await rig.dispatch.unary(listDocuments, { knowledgeBaseId: id }, as("alice"));
  expect([documents, totalSize]).toMatchObject([[{ id: added.id, passageCount: 3, state: DocumentState.READY }], 1]);
  expect(await rig.dispatch.unary(getKnowledgeBase, { knowledgeBaseId: id }, as("alice"))).toMatchObject({
    documentCount: 1,
    waitingCount: 0,
    failedCount: 0,
  });
});

test("who can see a knowledge base reads and searches it, who can manage it writes it, others know nothing of it", async () => {
  const id = await base({ sharing: [{ to: "user:bob", tier: Tier.CONFIG }] });
  const { id: documentId } = await add(id, RUNBOOK);
  await ready(documentId);
  expect(await search("isolate host", { knowledgeBaseIds: [id] }, "bob")).not.toEqual([]);
  expect((await search("isolate host", {}, "bob")).map(({ document }) => document!.id)).toContain(documentId);
  expect((await read(documentId, "bob")).document!.id).toBe(documentId);
  const writes = (who: string) =>
    Promise.all([
      refusal(add(id, "x", {}, who)),
      refusal(rig.dispatch.unary(updateDocument, { documentId, content: "x" }, as(who))),
      refusal(rig.dispatch.unary(deleteDocument, { documentId }, as(who))),
    ]);
  for (const [code, said] of await writes("bob"))
    expect([code, said]).toEqual(["PermissionDenied", expect.stringContaining("manage")]);
  for (const [code] of await writes("carl")) expect(code).toBe("NotFound");
  expect((await refusal(read(documentId, "carl")))[0]).toBe("NotFound");
  expect((await refusal(search("x", { knowledgeBaseIds: [id] }, "carl")))[0]).toBe("NotFound");
  expect((await refusal(search("x", { documentIds: [documentId] }, "carl")))[0]).toBe("NotFound");
  expect(await search("isolate host", {}, "carl")).toEqual([]);
  await rig.dispatch.unary(updateKnowledgeBase, { knowledgeBaseId: id, unshare: ["user:bob"] }, as("alice"));
  expect(await search("isolate host", {}, "bob")).toEqual([]);
});

test("a filter of documents stands before the ranking", async () => {
  const id = await base();
  const [near, far] = [
    await add(id, "isolate the host isolate the host"),
    await add(id, "rotate the keys and the host"),
  ];
  await Promise.all([ready(near.id), ready(far.id)]);
  const found = await search("isolate the host", { documentIds: [far.id], limit: 1 });
  expect(found.map(({ document }) => document!.id)).toEqual([far.id]);
});

test("while a document is revised all that is found of it is the version before, and then the new one", async () => {
  const id = await base();
  const text = (word: string) =>
    Array.from({ length: 40 }, (_, i) => `# Part ${i}\n\nThe ${word} answer.`).join("\n\n");
  const { id: documentId } = await add(id, text("old"));
  await ready(documentId);
  const seen = async () => {
    const found = await search("answer", { knowledgeBaseIds: [id], limit: 30 });
    const words = new Set(found.map((one) => `${one.version} ${one.text}`));
    return [found.length, ...words];
  };
  expect(await seen()).toEqual([30, "1 The old answer."]);
  const gate = gateOf();
  embedded = [];
  held = async () => {
    if (embedded.length > 16) await gate.promise;
  };
  // Every search while it changes is of one version, and the first of the new one is followed by no old one.
  const versions: string[] = [];
  const look = async () => {
    const [count, ...words] = await seen();
    expect([count, words.length]).toEqual([30, 1]);
    versions.push(words[0] as string);
  };
  const { document } = await rig.dispatch.unary(updateDocument, { documentId, content: text("new") }, as("alice"));
  expect(document).toMatchObject({ version: 2, searchableVersion: 1, state: DocumentState.WAITING });
  while (versions.at(-1) !== "2 The new answer.") await look();
  await vi.waitFor(() => expect(embedded.length).toBe(32));
  // Its words are enough, and some vectors are there.
  await look();
  expect((await read(documentId)).document).toMatchObject({
    state: DocumentState.WORDS,
    percent: 40,
    passageCount: 40,
  });
  held = undefined;
  gate.resolve();
  await look();
  await ready(documentId);
  expect([...new Set(versions)]).toEqual([
    ...(versions[0]![0] === "1" ? ["1 The old answer."] : []),
    "2 The new answer.",
  ]);
  expect(await seen()).toEqual([30, "2 The new answer."]);
  const left = await rig.store
    .collection("knowledge_blocks")
    .find({ document: documentId } as never)
    .toArray();
  expect(new Set(left.map((one) => (one as unknown as { generation: number }).generation))).toEqual(new Set([2]));
});

test("work that a process left is taken up by another, which goes on where it was", async () => {
  const id = await base();
  const text = Array.from({ length: 60 }, (_, i) => `# Part ${i}\n\nPassage number ${i} of it.`).join("\n\n");
  // The first process holds still for ever in its second block, as a frozen one does.
  let asked = 0;
  const gate = gateOf();
  const original = embedders.of;
  const stuck = plainEmbedders(async () => {
    asked++;
    if (asked === 2) await gate.promise;
  });
  embedders.of = stuck.of;
  const { id: documentId } = await add(id, text);
  await vi.waitFor(() => expect(asked).toBe(2), { timeout: 5_000 });
  embedders.of = original;
  // It keeps the document by its beats: the beats of a killed one stop.
  await rig.store
    .collection("knowledge_documents")
    .updateOne({ _id: documentId }, { $set: { claim: "of a killed process", due: new Date(0) } } as never);
  embedded = [];
  const other = await createCoreObjectsService({
    store: rig.store,
    peers: rig.peers,
    log: silentLog,
    seal: SEAL,
    knowledge: { embedders: plainEmbedders((texts) => void embedded.push(...texts)), pollMs: 20 },
  });
  await ready(documentId);
  expect(embedded.length).toBe(60 - 16);
  gate.resolve();
  expect((await search("passage number", { knowledgeBaseIds: [id], limit: 30 })).length).toBe(30);
  await other.close();
});

test("a deleted document is found by nothing that begins afterwards, and leaves nothing behind", async () => {
  const id = await base();
  const { id: documentId } = await add(id, RUNBOOK);
  await ready(documentId);
  expect(await search("isolate", { knowledgeBaseIds: [id] })).not.toEqual([]);
  await rig.dispatch.unary(deleteDocument, { documentId }, as("alice"));
  expect(await search("isolate", { knowledgeBaseIds: [id] })).toEqual([]);
  for (const name of ["knowledge_blocks", "knowledge_sources"])
    expect(await rig.store.collection(name).countDocuments({ document: documentId } as never)).toBe(0);
});

test("documents go with their knowledge base", async () => {
  const id = await base();
  const { id: documentId } = await add(id, RUNBOOK);
  await ready(documentId);
  await rig.dispatch.unary(deleteKnowledgeBase, { knowledgeBaseId: id }, as("alice"));
  expect((await refusal(read(documentId)))[0]).toBe("NotFound");
  await vi.waitFor(async () =>
    expect(await rig.store.collection("knowledge_documents").countDocuments({ _id: documentId })).toBe(0),
  );
  expect(await rig.store.collection("knowledge_blocks").countDocuments({ document: documentId } as never)).toBe(0);
});

test("another embedder takes over document by document", async () => {
  const id = await base();
  const { id: documentId } = await add(id, RUNBOOK);
  await ready(documentId);
  const bases = rig.store.collection("knowledge_bases");
  await bases.updateOne({ _id: id }, { $set: { integrations: ["other"], reembed: true } } as never);
  const documents = rig.store.collection("knowledge_documents");
  await vi.waitFor(async () =>
    expect(await documents.findOne({ _id: documentId })).toMatchObject({
      state: "ready",
      serving: { embedder: "other" },
    }),
  );
  expect(await search("isolate host", { knowledgeBaseIds: [id] })).not.toEqual([]);
});

test("an addition that is repeated with its request_id adds nothing, and an etag lets one through", async () => {
  const id = await base();
  const one = await add(id, RUNBOOK, { requestId: "r" });
  expect((await add(id, RUNBOOK, { requestId: "r" })).id).toBe(one.id);
  const revised = await rig.dispatch.unary(
    updateDocument,
    { documentId: one.id, etag: one.etag, name: "Other" },
    as("alice"),
  );
  expect(revised.document).toMatchObject({ name: "Other", version: 1 });
  const stale = rig.dispatch.unary(updateDocument, { documentId: one.id, etag: one.etag, content: "x" }, as("alice"));
  expect((await refusal(stale))[0]).toBe("Aborted");
  await ready(one.id);
  expect((await search("isolate", { knowledgeBaseIds: [id] }))[0]!.document!.name).toBe("Other");
});

test("a document without text says so, and can be revised", async () => {
  const id = await base();
  const { id: documentId } = await add(id, "# Only a heading");
  await vi.waitFor(async () =>
    expect((await read(documentId)).document).toMatchObject({ problem: "it contains no text" }),
  );
  await rig.dispatch.unary(updateDocument, { documentId, content: "Something." }, as("alice"));
  await ready(documentId);
});
