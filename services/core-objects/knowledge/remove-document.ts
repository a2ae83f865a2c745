import type { Context } from "../context.js";
import type { DocumentRecord } from "./records.js";

/**
 * Takes a document that nobody finds any more away: its passages and texts
 * first, so that what is left over is found again by the record.
 */
export async function removeDocument(
  { knowledge: { documents, sources, blocks, vectors }, room }: Context,
  { _id, owner, bytes }: DocumentRecord,
): Promise<void> {
  await blocks.deleteMany({ document: _id });
  await vectors.deleteMany({ document: _id });
  await sources.deleteMany({ document: _id });
  const { deletedCount } = await documents.deleteOne({ _id });
  await room.take(owner, -deletedCount, -deletedCount * bytes);
}
