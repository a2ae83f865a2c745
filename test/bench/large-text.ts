// When a large text is found by its words, and when all of its vectors are there:
// `tsx --conditions=house:source test/bench/large-text.ts`, with BENCH_MEGABYTES of
// text, LIMIT_SECONDS to wait at most. Meanwhile somebody else searches another
// knowledge base, and adds a short document.

import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { DocumentService, DocumentState, DocumentType } from "#proto/core/v1/document_service_pb.js";
import { DocumentUploadService } from "#proto/core/v1/document_upload_service_pb.js";
import { KnowledgeBaseService } from "#proto/core/v1/knowledge_base_service_pb.js";
import { PIECE } from "../../services/core-objects/knowledge/records.js";
import { PASSAGES } from "../services/core-objects/knowledge/corpus.js";
import { as, startRig } from "../services/core-objects/rig.js";

const MEGABYTES = Number(process.env.BENCH_MEGABYTES ?? 10);
const LIMIT_MS = Number(process.env.LIMIT_SECONDS ?? 600) * 1_000;

const { beginUpload, appendUpload, finishUpload } = DocumentUploadService.method;
const { createDocument, readDocument } = DocumentService.method;
const { createKnowledgeBase, searchKnowledge } = KnowledgeBaseService.method;

/** Paragraphs of the corpus in turns, each with a number of its own. */
function text(): Buffer {
  const sentences = Object.values(PASSAGES);
  const parts: string[] = [];
  for (let n = 0, bytes = 0; bytes < MEGABYTES * 1_000_000; n++) {
    const heading = n % 40 === 0 ? `## Chapter ${n / 40}\n\n` : "";
    const some = [0, 7, 13].map((step) => sentences[(n * 3 + step) % sentences.length]).join(" ");
    const part = `${heading}Case QX-${100_000 + n}: ${some}\n\n`;
    parts.push(part);
    bytes += part.length;
  }
  return Buffer.from(parts.join(""));
}

const rig = await startRig({ quota: { knowledge: 2 ** 30 } });
const call: typeof rig.dispatch.unary = (...args) => rig.dispatch.unary(...args);
const base = async (who: string): Promise<string> =>
  (await call(createKnowledgeBase, { name: "kb" }, as(who))).knowledgeBase!.id;
const [mine, theirs] = [await base("alice"), await base("bob")];
const short = { knowledgeBaseId: theirs, name: "Short", content: Object.values(PASSAGES)[0]! };
await call(createDocument, short, as("bob"));

const file = text();
const sha256 = createHash("sha256").update(file).digest("hex");
const asked = { knowledgeBaseId: mine, name: "Large", type: DocumentType.MARKDOWN, bytes: file.length, sha256 };
const { uploadId } = await call(beginUpload, asked, as("alice"));
for (let at = 0; at < file.length; at += PIECE)
  await call(appendUpload, { uploadId, offset: at, data: Uint8Array.from(file.subarray(at, at + PIECE)) }, as("alice"));
await call(finishUpload, { uploadId }, as("alice"));
const since = performance.now();
const seconds = (): string => ((performance.now() - since) / 1_000).toFixed(1);
const say = (line: string): void => void process.stdout.write(`${seconds()} s: ${line}\n`);

let isOver = false;
const waits: number[] = [];
async function others(): Promise<void> {
  while (!isOver) {
    const began = performance.now();
    await call(searchKnowledge, { query: "suspicious e-mail", knowledgeBaseIds: [theirs] }, as("bob"));
    waits.push(performance.now() - began);
    await sleep(50);
  }
}
const searching = others();
const query = `QX-${100_000 + Math.floor(file.length / 1_000)}`;
let isFound = false;
for (let state = DocumentState.WAITING; performance.now() - since < LIMIT_MS; await sleep(200)) {
  if (!isFound) {
    const { passages } = await call(searchKnowledge, { query, knowledgeBaseIds: [mine] }, as("alice"));
    isFound = passages[0]?.text.includes(query) === true;
    if (isFound) say("the text is found by a word of it");
  }
  const { document } = await call(readDocument, { documentId: uploadId, pageBytes: 4 }, as("alice")).catch(() => ({
    document: undefined,
  }));
  if (document === undefined || document.state === state) continue;
  state = document.state;
  say(`${DocumentState[state]}, ${document.passageCount} passages`);
  if (state === DocumentState.READY && isFound) break;
}
isOver = true;
await searching;
waits.sort((a, b) => a - b);
say(
  `${waits.length} searches of somebody else: ${waits[Math.floor(waits.length / 2)]!.toFixed(0)} ms at the median, ${waits.at(-1)!.toFixed(0)} at most`,
);
await rig.close();
