import type { Context } from "../context.js";
import type { Passing } from "../objects/leaving.js";
import type { Amounts } from "../room.js";
import { heldBy } from "./remove-document.js";

/** What the documents of a knowledge base take that are counted for an owner. */
export async function documentsOf(
  { knowledge }: Context,
  base: string,
  owner: string,
): Promise<Pick<Amounts, "documents" | "knowledge">> {
  let [documents, bytes] = [0, 0];
  const projection = { held: 1, bytes: 1 };
  for await (const document of knowledge.documents.find(
    { knowledge_base: base, owner },
    { projection, hint: "base" },
  )) {
    documents++;
    bytes += heldBy(document);
  }
  return { documents, knowledge: bytes };
}

/** Gives the documents of a knowledge base to another owner. Work on them begins again under the new one. */
export async function passDocuments(context: Context, base: string, { from, to }: Passing): Promise<void> {
  const { knowledge, room } = context;
  const moved = await documentsOf(context, base, from);
  if (moved.documents === 0) return;
  const theirs = { knowledge_base: base, owner: from };
  await room.pass(to, moved);
  // Who works on one counts for the owner whom it was taken up with: its claim ends.
  await knowledge.documents.updateMany(
    { ...theirs, due: { $gt: new Date(0) }, state: { $ne: "uploading" } },
    { $set: { owner: to, claim: "", due: new Date() } },
  );
  await knowledge.documents.updateMany(theirs, { $set: { owner: to } });
  await room.pass(from, { documents: -moved.documents, knowledge: -moved.knowledge });
  knowledge.wake();
}
