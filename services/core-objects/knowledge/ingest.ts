import type { Context } from "../context.js";
import type { KnowledgeBaseRecord } from "../kinds/knowledge-bases/record.js";
import { newEtag } from "../objects/gate.js";
import { DocumentError } from "./document-error.js";
import { type Embedder, EmbedderError } from "./embedder.js";
import { type FileType, textOfFile } from "./extract.js";
import { passagesOf } from "./passages.js";
import { BLOCK, type BlockRecord, blockIdOf, type DocumentRecord, type PassageRecord } from "./records.js";
import { removeDocument } from "./remove-document.js";

/** Passages of one document, at most. */
const MAX_PASSAGES = 20_000;

/** How a piece of work on a document is done. */
export interface Work {
  /** Fires where the process closes. */
  readonly signal: AbortSignal;
}

/**
 * Makes the latest generation of a document searchable, or takes one that is
 * leaving away. Every step can be done again: what is there already is kept, and
 * the one switch is a write of the document that only its latest generation
 * passes.
 *
 * @param document as it was claimed.
 * @throws DocumentError, EmbedderError
 */
export async function ingest(context: Context, document: DocumentRecord, work: Work): Promise<void> {
  const { documents } = context.knowledge;
  const base = await context
    .collection<KnowledgeBaseRecord>("knowledge base")
    .findOne({ _id: document.knowledge_base });
  if (base === null || document.state === "leaving") return removeDocument(context, document);
  const { _id, claim, generation, version, source } = document;
  const mine = { _id, claim, generation, state: "waiting" as const };
  if (document.serving?.generation !== generation) {
    const embedder = await context.knowledge.embedders.of(base);
    const passages = await passagesIn(context, document);
    if (!(await embedAll(context, document, passages, embedder, work))) return;
    const serving = { generation, version, passages: passages.length, embedder: embedder.id };
    if ((await documents.updateOne(mine, { $set: { serving } })).matchedCount === 0) return;
  }
  await touch(context, base._id);
  await context.knowledge.blocks.deleteMany({ document: _id, generation: { $lt: generation } });
  await context.knowledge.vectors.deleteMany({ document: _id, generation: { $lt: generation } });
  // One of the same version is of a revision that ended before it was one.
  await context.knowledge.sources.deleteMany({ document: _id, version: { $lte: version }, _id: { $ne: source } });
  await documents.updateOne(mine, { $set: { state: "ready", due: null, problem: "", attempts: 0 } });
}

/** Says that what is found in a knowledge base is another from now on. */
export async function touch(context: Context, base: string): Promise<void> {
  await context
    .collection<KnowledgeBaseRecord>("knowledge base")
    .updateOne({ _id: base }, { $set: { revision: newEtag() } });
}

async function passagesIn({ knowledge, isolation }: Context, document: DocumentRecord): Promise<PassageRecord[]> {
  const source = await knowledge.sources.findOne({ _id: document.source });
  if (source === null) throw new DocumentError("its text is gone: revise it with the text again");
  let { text } = source;
  if (source.file !== undefined) {
    const { _id: id, owner, type } = document;
    text = await textOfFile(isolation, { id, owner }, { type: type as FileType, file: source.file });
    await knowledge.sources.updateOne({ _id: source._id }, { $set: { text }, $unset: { file: "" } });
  }
  const passages = passagesOf(text, document.type);
  if (passages.length === 0) throw new DocumentError("there is no text in it");
  if (passages.length > MAX_PASSAGES) throw new DocumentError(`it has more than ${MAX_PASSAGES} passages: divide it`);
  return passages;
}

/** @returns whether all are embedded; not where another generation or process took over. */
async function embedAll(
  { knowledge: { blocks, documents } }: Context,
  { _id, claim, generation, name }: DocumentRecord,
  passages: readonly PassageRecord[],
  embedder: Embedder,
  { signal }: Work,
): Promise<boolean> {
  const there = await blocks
    .find({ document: _id, generation }, { sort: { n: 1 }, projection: { n: 1, dimensions: 1 } })
    .toArray();
  const done = new Set(there.map(({ n }) => n));
  for (let n = 0; n * BLOCK < passages.length; n++) {
    const some = passages.slice(n * BLOCK, (n + 1) * BLOCK);
    if (!done.has(n)) {
      const vectors = await embedder.embed(
        some.map(({ text, headings }) => [name, ...headings, text].join("\n")),
        signal,
      );
      const dimensions = vectors[0]!.length;
      if (there[0] !== undefined && there[0].dimensions !== dimensions)
        throw new EmbedderError("the model gives vectors of another length than before: change embedding_model", false);
      const block: Omit<BlockRecord, "_id"> = {
        document: _id,
        generation,
        n,
        passages: some,
        vectors: packed(vectors),
        dimensions,
      };
      await blocks.updateOne({ _id: blockIdOf(_id, generation, n) }, { $set: block }, { upsert: true });
    }
    const progress = { total: passages.length, done: Math.min(passages.length, (n + 1) * BLOCK) };
    const { matchedCount } = await documents.updateOne(
      { _id, claim, generation, state: "waiting" },
      { $set: progress },
    );
    if (matchedCount === 0) {
      const isGone = (await documents.findOne({ _id }, { projection: { _id: 1 } })) === null;
      if (isGone) await blocks.deleteMany({ document: _id });
      return false;
    }
  }
  return true;
}

function packed(vectors: readonly Float32Array[]): Uint8Array {
  const dimensions = vectors[0]!.length;
  const all = new Float32Array(vectors.length * dimensions);
  for (const [i, vector] of vectors.entries()) all.set(vector, i * dimensions);
  return new Uint8Array(all.buffer);
}
