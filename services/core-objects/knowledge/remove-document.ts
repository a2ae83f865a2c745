import type { Context } from "../context.js";
import type { DocumentRecord } from "./records.js";

/**
 * Takes a document that nobody finds any more away: its passages and texts
 * first, so that what is left over is found again by the record. What is counted
 * for it is given back once, by the one who deletes the record.
 */
export async function removeDocument(
  { knowledge: { documents, sources, pieces, blocks, vectors }, room }: Context,
  { _id }: Pick<DocumentRecord, "_id">,
): Promise<void> {
  await blocks.deleteMany({ document: _id });
  await vectors.deleteMany({ document: _id });
  await pieces.deleteMany({ document: _id });
  await sources.deleteMany({ document: _id });
  const gone = await documents.findOneAndDelete({ _id }, {});
  if (gone !== null) await room.takeKnowledge(gone.owner, -1, -heldBy(gone));
}

/** The bytes that are counted for a document. */
export function heldBy({ held, bytes }: DocumentRecord): number {
  return held ?? bytes;
}
