import { createHash } from "node:crypto";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { DocumentService, DocumentState, DocumentType } from "#proto/core/v1/document_service_pb.js";
import { DocumentUploadService } from "#proto/core/v1/document_upload_service_pb.js";
import { KnowledgeBaseService } from "#proto/core/v1/knowledge_base_service_pb.js";
import { UsageService } from "#proto/core/v1/usage_service_pb.js";
import { PIECE } from "../../../../services/core-objects/knowledge/records.js";
import { refusal } from "../refusal.js";
import { as, type Rig, startRig } from "../rig.js";
import { pdfOf } from "./files.js";
import { plainEmbedders } from "./plain-embedder.js";

const { beginUpload, appendUpload, finishUpload, cancelUpload } = DocumentUploadService.method;
const { listDocuments, readDocument, deleteDocument } = DocumentService.method;
const { createKnowledgeBase, searchKnowledge } = KnowledgeBaseService.method;

let rig: Rig;
let knowledgeBaseId: string;
beforeEach(async () => {
  rig = await startRig({ knowledge: { embedders: plainEmbedders(), pollMs: 20 }, quota: { knowledge: 2 ** 27 } });
  knowledgeBaseId = (await call(createKnowledgeBase, { name: "kb" }, as("alice"))).knowledgeBase!.id;
});
afterEach(() => rig.close());
const call: Rig["dispatch"]["unary"] = (...args) => rig.dispatch.unary(...args);

const sha256Of = (file: Uint8Array) => createHash("sha256").update(file).digest("hex");
const begin = (file: Uint8Array, more: object = {}, who = "alice") =>
  call(
    beginUpload,
    { knowledgeBaseId, name: "File", type: DocumentType.TEXT, bytes: file.length, sha256: sha256Of(file), ...more },
    as(who),
  );
const append = (uploadId: string, file: Uint8Array, n: number, who = "alice") =>
  call(
    appendUpload,
    { uploadId, offset: n * PIECE, data: Uint8Array.from(file.subarray(n * PIECE, (n + 1) * PIECE)) },
    as(who),
  );
async function upload(file: Uint8Array, more: object = {}): Promise<string> {
  const { uploadId } = await begin(file, more);
  for (let n = 0; n * PIECE < file.length; n++) await append(uploadId, file, n);
  await call(finishUpload, { uploadId }, as("alice"));
  return uploadId;
}
const ready = (documentId: string) =>
  vi.waitFor(
    async () =>
      expect((await call(readDocument, { documentId }, as("alice"))).document).toMatchObject({
        state: DocumentState.READY,
      }),
    { timeout: 120_000, interval: 100 },
  );
const stored = async () =>
  (await call(UsageService.method.getUsage, {}, as("alice"))).usage.find(({ name }) => name === "storage of documents")!
    .used;

/** A text of so many characters, in which each paragraph has a number. */
function textOf(characters: number): Uint8Array {
  let text = "# The long one\n\n";
  for (let n = 0; text.length < characters; n++)
    text +=
      n % 100 === 0
        ? `## Chapter ${n / 100}\n\n`
        : `Paragraph number${n} says a few things about itself, über ${n}. ${"More of it. ".repeat(40)}\n\n`;
  return Buffer.from(text);
}

test("a text of several pieces and parts is found and read as one, and counts what it takes", async () => {
  const file = textOf(1.2 * 2 ** 20);
  const id = await upload(file, { type: DocumentType.MARKDOWN });
  await ready(id);
  const { passages } = await call(searchKnowledge, { query: "number2001", limit: 3 }, as("alice"));
  expect(passages[0]!.text).toContain("number2001");
  expect(passages[0]!.headings).toEqual(["The long one", "Chapter 20"]);
  const { startByte, endByte, text } = passages[0]!;
  expect(file.subarray(startByte, endByte).toString()).toBe(text);
  // Across the end of a part, too.
  for (const page of [32, 33, 64, 65]) {
    const read = await call(readDocument, { documentId: id, page, pageBytes: 16_384 }, as("alice"));
    expect(read.totalBytes).toBe(file.length);
    expect(file.toString()).toContain(read.text);
    expect(Buffer.byteLength(read.text)).toBeGreaterThan(16_300);
  }
  expect(await rig.store.collection("knowledge_pieces").countDocuments({ document: id, of: "file" } as never)).toBe(0);
  const blocks = await rig.store
    .collection<{ _id: string; n: number; passages: unknown[] }>("knowledge_blocks")
    .find({})
    .toArray();
  const full = blocks.filter(({ n }) => n + 1 < blocks.length);
  expect(full.every((one) => one.passages.length === 16)).toBe(true);
  const before = await stored();
  expect(before).toBeGreaterThan(2 * file.length);
  await call(deleteDocument, { documentId: id }, as("alice"));
  // The worker may take it away first, and then gives back what it took a moment later.
  await vi.waitFor(async () => expect(await stored()).toBe(0), { timeout: 20_000 });
  expect(await rig.store.collection("knowledge_pieces").countDocuments({})).toBe(0);
});

test("an upload goes on where it was, in any order, and is no document until it is whole", async () => {
  const file = textOf(2.1 * 2 ** 20);
  const { uploadId } = await begin(file);
  expect(await stored()).toBe(file.length);
  await append(uploadId, file, 0);
  await append(uploadId, file, 2);
  await append(uploadId, file, 2);
  expect(await begin(file, { name: "Renamed" })).toMatchObject({ uploadId, receivedBytes: PIECE });
  expect((await refusal(call(finishUpload, { uploadId }, as("alice"))))[1]).toContain(`send the piece at ${PIECE}`);
  expect((await call(listDocuments, { knowledgeBaseId }, as("alice"))).documents).toEqual([]);
  expect((await refusal(call(readDocument, { documentId: uploadId }, as("alice"))))[0]).toBe("NotFound");
  await append(uploadId, file, 1);
  const { document } = await call(finishUpload, { uploadId }, as("alice"));
  expect(document).toMatchObject({ id: uploadId, name: "Renamed", bytes: file.length });
  // Whose answers were lost asks again.
  expect((await call(finishUpload, { uploadId }, as("alice"))).document!.id).toBe(uploadId);
  await append(uploadId, file, 1);
  expect((await begin(file)).document!.id).toBe(uploadId);
  expect((await begin(file)).uploadId).toBe("");
});

test("what is refused has changed nothing", async () => {
  const file = Buffer.from("A text.");
  expect((await refusal(begin(file, {}, "carl")))[0]).toBe("NotFound");
  expect((await refusal(begin(file, { bytes: 2 ** 26 + 1 })))[0]).toBe("InvalidArgument");
  expect((await refusal(begin(file, { sha256: "A".repeat(64) })))[0]).toBe("InvalidArgument");
  await begin(file, { bytes: 2 ** 26, sha256: "1".repeat(64) });
  await begin(file, { bytes: 2 ** 26, sha256: "2".repeat(64) });
  const [code, words] = await refusal(begin(file, { bytes: 1, sha256: "3".repeat(64) }));
  expect([code, words]).toEqual(["ResourceExhausted", expect.stringContaining("128 MiB of documents")]);
  expect(await stored()).toBe(2 ** 27);
  expect(await rig.store.collection("knowledge_sources").countDocuments({})).toBe(2);
});

test("the first piece must be of the type, each piece as long as it is to be, and all of it what was said", async () => {
  const text = Buffer.from("no PDF at all");
  const { uploadId } = await begin(text, { type: DocumentType.PDF });
  expect((await refusal(append(uploadId, text, 0)))[1]).toContain("file is not a pdf");
  expect(await rig.store.collection("knowledge_pieces").countDocuments({})).toBe(0);
  expect((await refusal(append(uploadId, text.subarray(1), 0)))[1]).toContain("a piece begins at a multiple of");
  expect((await refusal(append(uploadId, text, 0, "carl")))[0]).toBe("NotFound");
  await call(cancelUpload, { uploadId }, as("alice"));
  expect(await stored()).toBe(0);
  expect((await refusal(append(uploadId, text, 0)))[0]).toBe("NotFound");

  const other = await begin(text, { sha256: "0".repeat(64) });
  await append(other.uploadId, text, 0);
  expect((await refusal(call(finishUpload, { uploadId: other.uploadId }, as("alice"))))[1]).toContain("SHA-256");
  expect((await call(listDocuments, { knowledgeBaseId }, as("alice"))).documents).toEqual([]);
});

test("an upload that is left alone is taken away, with what it took", async () => {
  const file = textOf(2 ** 20);
  const { uploadId } = await begin(file);
  await append(uploadId, file, 0);
  await rig.store
    .collection("knowledge_documents")
    .updateOne({ _id: uploadId } as never, { $set: { due: new Date(0) } } as never);
  await vi.waitFor(async () => expect(await stored()).toBe(0), { timeout: 20_000 });
  expect(await rig.store.collection("knowledge_pieces").countDocuments({})).toBe(0);
  expect((await refusal(append(uploadId, file, 0)))[0]).toBe("NotFound");
});

test("a broken file says why, and its content is not taken again", async () => {
  const broken = Buffer.from("%PDF-1.4 and nothing more");
  const id = await upload(broken, { type: DocumentType.PDF });
  await vi.waitFor(
    async () => expect((await begin(broken, { type: DocumentType.PDF })).document!.state).toBe(DocumentState.FAILED),
    { timeout: 30_000, interval: 100 },
  );
  const { document } = await begin(broken, { type: DocumentType.PDF });
  expect(document).toMatchObject({ id, problem: expect.stringContaining("cannot be read as pdf") });
});

test("the page and the heading of a PDF are cited", async () => {
  const id = await upload(pdfOf("Isolate the host", "Then rotate"), { type: DocumentType.PDF });
  await ready(id);
  const { passages } = await call(searchKnowledge, { query: "isolate host" }, as("alice"));
  expect(passages[0]).toMatchObject({ page: 1, headings: [] });
});

test.each<[string, Uint8Array]>([
  ["UTF-8", Buffer.from("Grüße an Zoë.\r\nEnde.")],
  ["windows-1252", Buffer.from("Grüße an Zoë.\r\nEnde.", "latin1")],
  ["UTF-16 with its mark", Buffer.from("\ufeffGrüße an Zoë.\r\nEnde.", "utf16le")],
])("a short text in %s is read as it is", async (charset, file) => {
  const id = await upload(file, { name: charset });
  await ready(id);
  const { text } = await call(readDocument, { documentId: id }, as("alice"));
  expect(text).toBe("Grüße an Zoë.\nEnde.");
});

test("a short file with bytes that no text has says so", async () => {
  const file = Buffer.from("not a text\0");
  const id = await upload(file);
  await vi.waitFor(async () => expect((await begin(file)).document!.state).toBe(DocumentState.FAILED), {
    timeout: 30_000,
    interval: 100,
  });
  const { document } = await begin(file);
  expect(document).toMatchObject({ id, problem: "it cannot be read as text: it holds bytes that no text has" });
});
