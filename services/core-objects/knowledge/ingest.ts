import type { Context } from "../context.js";
import type { KnowledgeBaseRecord } from "../kinds/knowledge-bases/record.js";
import { newEtag } from "../objects/gate.js";
import { BUILT_IN } from "./built-in-embedder.js";
import { vectorsOf } from "./checked-vectors.js";
import { cutDocument } from "./cut-document.js";
import { vectorBytes } from "./document-bytes.js";
import { HeldUpError } from "./document-error.js";
import { type Embedder, EmbedderError } from "./embedder.js";
import { growDocument } from "./grow-document.js";
import { mayUse } from "./integration-use.js";
import { textBytesIn } from "./pieces.js";
import { BLOCK, blockIdOf, type CutRecord, type DocumentRecord } from "./records.js";
import { heldBy, removeDocument } from "./remove-document.js";
import { takeText } from "./take-text.js";

/** How long an endpoint may take for the passages of a block, in milliseconds. */
const BLOCK_MS = 30_000;

/** How a piece of work on a document is done. */
export interface Work {
  /** Fires when the process closes. */
  readonly signal: AbortSignal;
  /** Whether others have their turn now: the document goes on later, from where it is. */
  isOver(): boolean;
}

/**
 * Makes the latest generation of a document searchable, or takes one that is
 * leaving away. Every step can be done again: what is there already is kept, and
 * the one switch is a write of the document that only its latest generation
 * passes.
 *
 * @param document as it was claimed.
 * @returns whether that is done; false if others have their turn before it is.
 * @throws DocumentError, EmbedderError, HeldUpError
 */
export async function ingest(context: Context, document: DocumentRecord, work: Work): Promise<boolean> {
  const { documents } = context.knowledge;
  const base = await context
    .collection<KnowledgeBaseRecord>("knowledge base")
    .findOne({ _id: document.knowledge_base });
  if (base === null || document.state === "leaving" || document.state === "uploading") {
    await removeDocument(context, document);
    return true;
  }
  const { _id, claim, generation, version, source } = document;
  const mine = { _id, claim, generation, state: "waiting" as const };
  let { serving } = document;
  if (serving?.generation !== generation) {
    const embedder = await embedderOf(context, base);
    const text = await takeText(context, document);
    if (text === undefined) return true;
    const cut = await cutDocument(context, document, text);
    if (cut === undefined) return true;
    const embedded = await embedAll(context, document, cut, embedder, work);
    if (typeof embedded === "string") return embedded !== "later";
    const bytes = textBytesIn(text) + cut.bytes + vectorBytes(cut.passages, embedded.dimensions);
    serving = { generation, version, passages: cut.passages, embedder: embedder.id, bytes };
    if ((await documents.updateOne(mine, { $set: { serving } })).matchedCount === 0) return true;
  }
  await touch(context, base._id);
  await context.knowledge.blocks.deleteMany({ document: _id, generation: { $lt: generation } });
  await context.knowledge.vectors.deleteMany({ document: _id, generation: { $lt: generation } });
  // One of the same version is of a revision that ended before it was one.
  for await (const old of context.knowledge.sources.find(
    { document: _id, version: { $lte: version }, _id: { $ne: source } },
    { projection: { _id: 1 } },
  )) {
    for (const of of ["file", "text"] as const)
      await context.knowledge.pieces.deleteMany({ document: _id, of, source: old._id });
    await context.knowledge.sources.deleteOne({ _id: old._id });
  }
  const held = serving.bytes ?? heldBy(document);
  // Who wrote the last block may have ended before it said so.
  const { passages: total } = serving;
  const ready = { state: "ready" as const, due: null, problem: "", attempts: 0, held, total, done: total };
  const before = await documents.findOneAndUpdate(mine, { $set: ready }, { returnDocument: "before" });
  if (before !== null) await context.room.takeKnowledge(before.owner, 0, held - heldBy(before));
  return true;
}

/** @throws HeldUpError if the owner of the knowledge base can no longer read its integration. */
async function embedderOf({ knowledge }: Context, base: KnowledgeBaseRecord): Promise<Embedder> {
  const embedder = await knowledge.embedders.of(base);
  const integration = (await knowledge.embedders.endpointsOf([embedder.id])).get(embedder.id);
  if (integration === undefined || (await mayUse(knowledge.principals, base, integration))) return embedder;
  throw new HeldUpError(
    `the owner of the knowledge base can no longer read its integration ${integration.name}: ask for it to be shared again, or choose another one with update_knowledge_base`,
  );
}

/** Says that what is found in a knowledge base is another from now on. */
export async function touch(context: Context, base: string): Promise<void> {
  await context
    .collection<KnowledgeBaseRecord>("knowledge base")
    .updateOne({ _id: base }, { $set: { revision: newEtag() } });
}

/** @returns the length of the vectors; "later" if others have their turn, "lost" if another generation or process took over. */
async function embedAll(
  context: Context,
  document: DocumentRecord,
  { passages: total }: CutRecord,
  embedder: Embedder,
  work: Work,
): Promise<{ readonly dimensions: number } | "later" | "lost"> {
  const { blocks } = context.knowledge;
  const { _id, generation, name } = document;
  const isBegun = document.cut?.generation === generation && document.total === total;
  const first = isBegun ? Math.floor(document.done / BLOCK) : 0;
  let dimensions = (await blocks.findOne({ _id: blockIdOf(_id, generation, 0) }))?.dimensions || undefined;
  let isReserved = document.reserved === generation;
  for (let n = first; n * BLOCK < total; n++) {
    if (n > first && work.isOver()) return "later";
    const block = await blocks.findOne({ _id: blockIdOf(_id, generation, n) });
    if (block === null) return "lost";
    const texts = block.passages.map(({ text, headings }) => [name, ...headings, text].join("\n"));
    const vectors = await embedBlock(context, embedder, texts, work.signal);
    const { length } = vectors[0] as Float32Array;
    if (dimensions !== undefined && dimensions !== length)
      throw new EmbedderError("the model returns vectors of another length than before: change embedding_model", false);
    dimensions = length;
    if (!isReserved) {
      // Room for all of them is taken before the first one is written.
      if (!(await growDocument(context, document, vectorBytes(total, dimensions), generation))) return "lost";
      isReserved = true;
    }
    const made = { $set: { vectors: packed(vectors), dimensions } };
    if ((await blocks.updateOne({ _id: block._id }, made)).matchedCount === 0) return "lost";
    if (!(await tellProgress(context, document, total, Math.min(total, (n + 1) * BLOCK)))) return "lost";
  }
  return { dimensions: dimensions as number };
}

/** The built-in model has one thread, whose time documents share block by block. */
function embedBlock(
  { knowledge }: Context,
  embedder: Embedder,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<readonly Float32Array[]> {
  if (embedder.id === BUILT_IN) return knowledge.inOrder(() => vectorsOf(embedder, texts, signal));
  const late = AbortSignal.timeout(BLOCK_MS);
  return vectorsOf(embedder, texts, AbortSignal.any([signal, late])).catch((error: Error) => {
    if (signal.aborted || !late.aborted) throw error;
    const words = `the embedding endpoint did not answer within ${BLOCK_MS / 1_000} seconds`;
    throw new EmbedderError(words, true, error);
  });
}

async function tellProgress(
  { knowledge: { blocks, documents } }: Context,
  { _id, claim, generation }: DocumentRecord,
  total: number,
  done: number,
): Promise<boolean> {
  const mine = { _id, claim, generation, state: "waiting" as const };
  const { matchedCount } = await documents.updateOne(mine, { $set: { total, done } });
  if (matchedCount === 1) return true;
  const isGone = (await documents.findOne({ _id }, { projection: { _id: 1 } })) === null;
  if (isGone) await blocks.deleteMany({ document: _id });
  return false;
}

function packed(vectors: readonly Float32Array[]): Uint8Array {
  const dimensions = vectors[0]!.length;
  const all = new Float32Array(vectors.length * dimensions);
  for (const [i, vector] of vectors.entries()) all.set(vector, i * dimensions);
  return new Uint8Array(all.buffer);
}
