import type { Thread } from "../../shared/process/asked.js";
import type { DocCollection } from "../../shared/store/store.js";
import type { RankingMethods } from "./apart/ranking.js";
import { areTerms } from "./packed-terms.js";
import type { BlockRecord, ServingRecord } from "./records.js";

/** Where blocks are, and what makes their terms. */
interface BlockReaderParts {
  readonly blocks: DocCollection<BlockRecord>;
  readonly thread: Thread<RankingMethods>;
}

/** What was read of the blocks of a document. */
interface ReadBlocks {
  readonly dimensions: number;
  readonly vectors: Float32Array;
}

/**
 * @param each hears of each block.
 * @returns undefined if the blocks are not those of the generation as a whole.
 */
export async function readBlocks(
  { blocks }: Pick<BlockReaderParts, "blocks">,
  document: string,
  { generation, embedder, passages: count }: ServingRecord,
  each?: (block: BlockRecord) => Promise<void>,
): Promise<ReadBlocks | undefined> {
  let [passages, dimensions, vectors] = [0, 0, new Float32Array(0)];
  // Some vectors of a document whose words alone are searched may be there: they count when all are.
  const projection = embedder === "" ? { vectors: 0 } : undefined;
  const found = { sort: { n: 1 }, ...(projection && { projection }) } as const;
  // Block by block, so that a large document is in memory once.
  for await (const block of blocks.find({ document, generation }, found)) {
    if (embedder !== "") {
      if (passages === 0) {
        dimensions = block.dimensions;
        vectors = new Float32Array(count * dimensions);
      }
      const own = floatsIn(block.vectors);
      const at = passages * dimensions;
      if (at + own.length > vectors.length) return undefined;
      vectors.set(own, at);
    }
    passages += block.passages.length;
    await each?.(block);
  }
  return passages === count ? { vectors, dimensions } : undefined;
}

/** What the passages of a block are found by: made now, and kept, where it is of a version before this one. */
export async function termsOf(
  { thread, blocks }: BlockReaderParts,
  { _id, passages, terms }: BlockRecord,
): Promise<Uint8Array> {
  if (areTerms(terms, passages.length)) return Uint8Array.from(terms);
  const made = await thread.call(
    "terms",
    passages.map(({ text, headings }) => ({ text, headings })),
  );
  await blocks.updateOne({ _id }, { $set: { terms: made } });
  return made;
}

/** The numbers in the bytes of a block, which may begin anywhere in their buffer. */
function floatsIn(bytes: Uint8Array): Float32Array {
  return new Float32Array(Uint8Array.from(bytes).buffer);
}
