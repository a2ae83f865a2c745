import type { Context } from "../context.js";
import type { KnowledgeBaseRecord } from "../kinds/knowledge-bases/record.js";
import { BUILT_IN } from "./built-in-embedder.js";
import { vectorsOf } from "./checked-vectors.js";
import { vectorBytes } from "./document-bytes.js";
import { HeldUpError } from "./document-error.js";
import { type Embedder, EmbedderError } from "./embedder.js";
import { growDocument } from "./grow-document.js";
import { mayUse } from "./integration-use.js";
import { BLOCK, blockIdOf, type DocumentRecord, IN_WORK } from "./records.js";

/** How long an endpoint may take for the passages of a block, in milliseconds. */
const BLOCK_MS = 30_000;

/** How a piece of work on a document is done. */
export interface Work {
  /** Fires when the process closes. */
  readonly signal: AbortSignal;
  /** Whether others have their turn now: the document goes on later, from where it is. */
  isOver(): boolean;
}

/** A document, and how many passages it was cut into. */
interface CutDocument {
  readonly document: DocumentRecord;
  readonly base: KnowledgeBaseRecord;
  readonly passages: number;
}

/**
 * Adds the vectors of the latest generation of a document, block by block, as far as they are not there.
 *
 * @returns whose vectors they are, and their length; "later" if others have their turn, "lost" if another generation or
 * process took over.
 * @throws EmbedderError, HeldUpError
 */
export async function embedDocument(
  context: Context,
  { document, base, passages: total }: CutDocument,
  work: Work,
): Promise<{ readonly embedder: string; readonly dimensions: number } | "later" | "lost"> {
  const { blocks } = context.knowledge;
  const embedder = await embedderOf(context, base);
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
  return { embedder: embedder.id, dimensions: dimensions as number };
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
  const mine = { _id, claim, generation, state: IN_WORK };
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
