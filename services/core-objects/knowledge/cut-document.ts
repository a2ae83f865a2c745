import type { Context } from "../context.js";
import { passageBytes } from "./document-bytes.js";
import { DocumentError } from "./document-error.js";
import { growDocument } from "./grow-document.js";
import { textPart, textPartsIn } from "./pieces.js";
import {
  BLOCK,
  type BlockRecord,
  blockIdOf,
  type CutRecord,
  type DocumentRecord,
  IN_WORK,
  type PassageRecord,
  type SourceRecord,
  TEXT_START,
} from "./records.js";

/** Passages of one document, at most: about 80 MB of text. */
const MAX_PASSAGES = 100_000;

/**
 * Cuts the text of a document into blocks of passages, part by part, as far as that is not done. Their vectors come
 * later.
 *
 * @returns undefined if another generation or process took over.
 */
export async function cutDocument(
  context: Context,
  document: DocumentRecord,
  source: SourceRecord,
): Promise<CutRecord | undefined> {
  const { cutter, documents } = context.knowledge;
  const { _id, claim, generation } = document;
  const begun = document.cut?.generation === generation ? document.cut : undefined;
  // What came from an address said what it is when it came.
  const type = (await documents.findOne({ _id }, { projection: { type: 1 } }))?.type ?? document.type;
  let cut: CutRecord = begun ?? { generation, parts: 0, passages: 0, bytes: 0, at: TEXT_START };
  const parts = textPartsIn(source);
  while (cut.parts < parts) {
    const before = await openBlock(context, document, cut);
    const text = await textPart(context.knowledge, source, cut.parts);
    const { passages, terms, after } = await cutter.cut({ text, type, at: cut.at, before });
    const own = passages.slice(before.length);
    const total = cut.passages + own.length;
    if (total > MAX_PASSAGES)
      throw new DocumentError(`it has more than ${MAX_PASSAGES} passages: divide it into several documents`);
    const bytes = passageBytes(own);
    if (!(await growDocument(context, document, bytes))) return undefined;
    await writeBlocks(context, document, { first: Math.floor(cut.passages / BLOCK), passages, terms });
    cut = { generation, parts: cut.parts + 1, passages: total, bytes: cut.bytes + bytes, at: after };
    const known = cut.parts === parts ? { total, done: 0 } : {};
    const mine = { _id, claim, generation, state: IN_WORK };
    if ((await documents.updateOne(mine, { $set: { cut, ...known } })).matchedCount === 0) return undefined;
  }
  if (cut.passages === 0) throw new DocumentError("it contains no text");
  return cut;
}

/** The passages of the last block, if it is not full. */
async function openBlock(
  { knowledge: { blocks } }: Context,
  { _id, generation }: DocumentRecord,
  { passages }: CutRecord,
): Promise<readonly PassageRecord[]> {
  const open = passages % BLOCK;
  if (open === 0) return [];
  const block = await blocks.findOne({ _id: blockIdOf(_id, generation, Math.floor(passages / BLOCK)) });
  // A process that ended may have written more into it.
  return block?.passages.slice(0, open) ?? [];
}

async function writeBlocks(
  { knowledge: { blocks } }: Context,
  { _id: document, generation }: DocumentRecord,
  cut: { readonly first: number; readonly passages: readonly PassageRecord[]; readonly terms: readonly Uint8Array[] },
): Promise<void> {
  const { first, passages, terms } = cut;
  for (const [i, of] of terms.entries()) {
    const n = first + i;
    const block: Omit<BlockRecord, "_id"> = {
      ...{ document, generation, n, passages: passages.slice(i * BLOCK, (i + 1) * BLOCK), terms: of },
      ...{ vectors: new Uint8Array(0), dimensions: 0 },
    };
    await blocks.updateOne({ _id: blockIdOf(document, generation, n) }, { $set: block }, { upsert: true });
  }
}
