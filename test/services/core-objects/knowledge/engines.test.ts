import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { DocumentService, DocumentState } from "#proto/core/v1/document_service_pb.js";
import { KnowledgeBaseService } from "#proto/core/v1/knowledge_base_service_pb.js";
import type { KnowledgeOptions } from "../../../../services/core-objects/knowledge/knowledge.js";
import { titled } from "../../../support/titled.js";
import { backends } from "../../shared/store/backends.js";
import { as, type Rig, startRig } from "../rig.js";
import { plainEmbedders } from "./plain-embedder.js";

// What knowledge keeps in the store, on every engine that there is.

const { createKnowledgeBase, getKnowledgeBase, deleteKnowledgeBase, searchKnowledge } = KnowledgeBaseService.method;
const { createDocument, listDocuments, readDocument, updateDocument, deleteDocument } = DocumentService.method;

const text = (word: string) => Array.from({ length: 40 }, (_, i) => `# Part ${i}\n\nThe ${word} answer.`).join("\n\n");

for (const backend of backends) {
  describe.skipIf(backend.missing !== undefined)(titled(`knowledge on ${backend.title}`, backend.missing), () => {
    let opened: Awaited<ReturnType<typeof backend.open>>;
    let rig: Rig;
    let attempts = 0;
    // Each third request for documents fails as an endpoint does that is away.
    const knowledge: KnowledgeOptions = {
      embedders: plainEmbedders(() => {
        if (++attempts % 3 === 2) throw new Error("away");
      }),
      pollMs: 20,
      leaseMs: 500,
      firstWaitMs: 10,
    };
    beforeAll(async () => {
      opened = await backend.open();
      rig = await startRig({ store: opened.store, knowledge });
    });
    afterAll(async () => {
      await rig?.close();
      await opened?.close();
    });

    const call: Rig["dispatch"]["unary"] = (...args) => rig.dispatch.unary(...args);
    const stateOf = async (documentId: string) =>
      (await call(readDocument, { documentId }, as("alice"))).document!.state;
    const ready = (id: string) =>
      vi.waitFor(async () => expect(await stateOf(id)).toBe(DocumentState.READY), { timeout: 20_000 });
    const found = async (knowledgeBaseId: string): Promise<unknown[]> => {
      const request = { query: "answer", knowledgeBaseIds: [knowledgeBaseId], limit: 30 };
      const { passages } = await call(searchKnowledge, request, as("alice"));
      return [passages.length, ...new Set(passages.map((one) => `${one.version} ${one.text}`))];
    };

    test("goes through adding, failing, going on, revising and deleting", async () => {
      const { knowledgeBase } = await call(createKnowledgeBase, { name: "kb" }, as("alice"));
      const knowledgeBaseId = knowledgeBase!.id;
      const add = (name: string, requestId: string) =>
        call(createDocument, { knowledgeBaseId, name, content: text("old"), requestId }, as("alice"));
      const [first, again, second] = [await add("one", "1"), await add("one", "1"), await add("two", "2")];
      const [one, two] = [first.document!.id, second.document!.id];
      expect(again.document!.id).toBe(one);
      await Promise.all([ready(one), ready(two)]);
      expect(await found(knowledgeBaseId)).toEqual([30, "1 The old answer."]);
      const listed = await call(listDocuments, { knowledgeBaseId, state: DocumentState.READY }, as("alice"));
      expect(listed.documents.map(({ id }) => id)).toEqual([two, one]);
      expect(await call(getKnowledgeBase, { knowledgeBaseId }, as("alice"))).toMatchObject({ documentCount: 2 });
      await call(deleteDocument, { documentId: two }, as("alice"));
      await call(updateDocument, { documentId: one, content: text("new") }, as("alice"));
      await ready(one);
      expect(await found(knowledgeBaseId)).toEqual([30, "2 The new answer."]);
      for (const name of ["knowledge_blocks", "knowledge_sources"]) {
        const there = (await opened.store.collection(name).find({}).toArray()) as unknown as { document: string }[];
        expect([...new Set(there.map(({ document }) => document))]).toEqual([one]);
      }
      await call(deleteKnowledgeBase, { knowledgeBaseId }, as("alice"));
      // The record of a document goes last.
      const left = (name: string): Promise<number> => opened.store.collection(name).countDocuments();
      await vi.waitFor(async () => expect(await left("knowledge_documents")).toBe(0), { timeout: 10_000 });
      for (const name of ["knowledge_blocks", "knowledge_sources"]) expect(await left(name)).toBe(0);
    });
  });
}
