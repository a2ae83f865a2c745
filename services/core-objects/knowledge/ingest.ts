import type { Context } from "../context.js";
import type { KnowledgeBaseRecord } from "../kinds/knowledge-bases/record.js";
import { newEtag } from "../objects/gate.js";
import { BUILT_IN } from "./built-in-embedder.js";
import { vectorsOf } from "./checked-vectors.js";
import type { Cut } from "./cut.js";
import { documentBytes } from "./document-bytes.js";
import { DocumentError, HeldUpError } from "./document-error.js";
import { type Embedder, EmbedderError } from "./embedder.js";
import { type FileType, textOfFile } from "./extract.js";
import { growDocument } from "./grow-document.js";
import { mayUse } from "./integration-use.js";
import { BLOCK, type BlockRecord, blockIdOf, type DocumentRecord } from "./records.js";
import { heldBy, removeDocument } from "./remove-document.js";

/** Passages of one document, at most. */
const MAX_PASSAGES = 20_000;
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
  if (base === null || document.state === "leaving") {
    await removeDocument(context, document);
    return true;
  }
  const { _id, claim, generation, version, source } = document;
  const mine = { _id, claim, generation, state: "waiting" as const };
  let { serving } = document;
  if (serving?.generation !== generation) {
    const embedder = await embedderOf(context, base);
    const text = await textOf(context, document);
    if (text === undefined) return true;
    const cut = await cutIn(context, document, text);
    const { passages } = cut;
    const embedded = await embedAll(context, document, cut, embedder, work);
    if (typeof embedded === "string") return embedded !== "later";
    const bytes = Buffer.byteLength(text) + documentBytes(passages, embedded.dimensions);
    serving = { generation, version, passages: passages.length, embedder: embedder.id, bytes };
    if ((await documents.updateOne(mine, { $set: { serving } })).matchedCount === 0) return true;
  }
  await touch(context, base._id);
  await context.knowledge.blocks.deleteMany({ document: _id, generation: { $lt: generation } });
  await context.knowledge.vectors.deleteMany({ document: _id, generation: { $lt: generation } });
  // One of the same version is of a revision that ended before it was one.
  await context.knowledge.sources.deleteMany({ document: _id, version: { $lte: version }, _id: { $ne: source } });
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

/** @returns undefined if another generation or process took over. */
async function textOf(context: Context, document: DocumentRecord): Promise<string | undefined> {
  const { sources } = context.knowledge;
  const source = await sources.findOne({ _id: document.source });
  if (source === null) throw new DocumentError("its text is missing: revise it with the text again");
  if (source.file === undefined) return source.text;
  const { _id: id, owner, type } = document;
  const text = await textOfFile(context.isolation, { id, owner }, { type: type as FileType, file: source.file });
  const grows = Math.max(0, Buffer.byteLength(text) - source.file.length);
  if (!(await growDocument(context, document, grows))) return undefined;
  await sources.updateOne({ _id: source._id }, { $set: { text }, $unset: { file: "" } });
  return text;
}

async function cutIn({ knowledge: { cutter } }: Context, { type }: DocumentRecord, text: string): Promise<Cut> {
  const cut = await cutter.cut(text, type);
  const { passages } = cut;
  if (passages.length === 0) throw new DocumentError("it contains no text");
  if (passages.length > MAX_PASSAGES)
    throw new DocumentError(`it has more than ${MAX_PASSAGES} passages: divide it into several documents`);
  return cut;
}

/** @returns the length of the vectors; "later" if others have their turn, "lost" if another generation or process took over. */
async function embedAll(
  context: Context,
  document: DocumentRecord,
  { passages, terms }: Cut,
  embedder: Embedder,
  work: Work,
): Promise<{ readonly dimensions: number } | "later" | "lost"> {
  const { blocks } = context.knowledge;
  const { _id, generation, name } = document;
  const there = await blocks
    .find({ document: _id, generation }, { sort: { n: 1 }, projection: { n: 1, dimensions: 1 } })
    .toArray();
  let dimensions = there[0]?.dimensions;
  const done = new Set(there.map(({ n }) => n));
  for (let n = 0; n * BLOCK < passages.length; n++) {
    if (done.has(n)) continue;
    if (done.size > there.length && work.isOver()) return "later";
    const some = passages.slice(n * BLOCK, (n + 1) * BLOCK);
    const texts = some.map(({ text, headings }) => [name, ...headings, text].join("\n"));
    const vectors = await embedBlock(context, embedder, texts, work.signal);
    const length = vectors[0]!.length;
    if (dimensions !== undefined && dimensions !== length)
      throw new EmbedderError("the model returns vectors of another length than before: change embedding_model", false);
    dimensions = length;
    if (document.reserved !== generation && done.size === there.length) {
      // Room for all of them is taken before the first one is written.
      if (!(await growDocument(context, document, documentBytes(passages, dimensions), generation))) return "lost";
    }
    const block: Omit<BlockRecord, "_id"> = {
      document: _id,
      generation,
      n,
      passages: some,
      vectors: packed(vectors),
      dimensions,
      terms: terms[n] as Uint8Array,
    };
    await blocks.updateOne({ _id: blockIdOf(_id, generation, n) }, { $set: block }, { upsert: true });
    done.add(n);
    if (!(await tellProgress(context, document, passages.length, Math.min(passages.length, done.size * BLOCK))))
      return "lost";
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
