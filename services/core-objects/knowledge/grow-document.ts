import { Code, ConnectError } from "@connectrpc/connect";
import type { Context } from "../context.js";
import { HeldUpError } from "./document-error.js";
import { type DocumentRecord, IN_WORK } from "./records.js";

/**
 * Counts bytes for a document that is worked on, before they are written.
 *
 * @param generation whose passages and vectors they are, if they are.
 * @returns false if another generation or process took over.
 * @throws HeldUpError if there is no room for them.
 */
export async function growDocument(
  { room, knowledge: { documents } }: Context,
  document: DocumentRecord,
  bytes: number,
  generation?: number,
): Promise<boolean> {
  const { _id, claim, owner } = document;
  try {
    await room.takeKnowledge(owner, 0, bytes);
  } catch (error) {
    if (ConnectError.from(error).code !== Code.ResourceExhausted) throw error;
    throw new HeldUpError((error as ConnectError).rawMessage);
  }
  const { matchedCount } = await documents.updateOne(
    { _id, claim, generation: document.generation, state: IN_WORK },
    { $inc: { held: bytes }, ...(generation !== undefined && { $set: { reserved: generation } }) },
  );
  if (matchedCount === 0) await room.takeKnowledge(owner, 0, -bytes);
  return matchedCount === 1;
}
