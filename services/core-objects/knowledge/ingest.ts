import type { Context } from "../context.js";
import type { KnowledgeBaseRecord } from "../kinds/knowledge-bases/record.js";
import { newEtag } from "../objects/gate.js";
import { cutDocument } from "./cut-document.js";
import { vectorBytes } from "./document-bytes.js";
import { embedDocument, type Work } from "./embed-document.js";
import { textBytesIn } from "./pieces.js";
import { BLOCK, type DocumentRecord, IN_WORK, type ServingRecord } from "./records.js";
import { heldBy, removeDocument } from "./remove-document.js";
import { takeText } from "./take-text.js";

/**
 * Makes the latest generation of a document searchable, or takes one that is leaving away: a new version by its words
 * first, when all of its passages are there, and by its meaning when all of its vectors are. Every step can be done
 * again: what is there already is kept, and each switch is a write of the document that only its latest generation
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
  const { _id, claim, generation, version } = document;
  const mine = { _id, claim, generation, state: IN_WORK };
  let { serving } = document;
  if (serving?.generation !== generation || serving.embedder === "") {
    const text = await takeText(context, document);
    if (text === undefined) return true;
    const cut = await cutDocument(context, document, text);
    if (cut === undefined) return true;
    const { passages } = cut;
    const wordBytes = textBytesIn(text) + cut.bytes;
    // What is searched of the same version has the same words, and vectors too.
    if (serving?.version !== version) {
      serving = { generation, version, passages, embedder: "" };
      if ((await documents.updateOne(mine, { $set: { serving } })).matchedCount === 0) return true;
    }
    if (serving.generation === generation && document.state === "waiting") {
      if (!(await switched(context, document, { state: "words", held: wordBytes, reserved: 0 }))) return true;
      // The words of others come before its vectors.
      if (passages > BLOCK) return false;
    }
    const embedded = await embedDocument(context, { document, base, passages }, work);
    if (typeof embedded === "string") return embedded !== "later";
    const { embedder, dimensions } = embedded;
    serving = { generation, version, passages, embedder, bytes: wordBytes + vectorBytes(passages, dimensions) };
    if ((await documents.updateOne(mine, { $set: { serving } })).matchedCount === 0) return true;
  }
  await switched(context, document, readyOf(document, serving));
  return true;
}

/** Nothing is left to do. */
function readyOf(document: DocumentRecord, { bytes, passages: total }: ServingRecord): Partial<DocumentRecord> {
  // Who wrote the last block may have ended before it said so.
  return { state: "ready", due: null, held: bytes ?? heldBy(document), total, done: total };
}

/**
 * Takes what is not searched any more away after a switch, and then says where the document is.
 *
 * @returns whether it is still the latest generation, and this process works on it.
 */
async function switched(
  context: Context,
  { _id, claim, generation, version, source, knowledge_base }: DocumentRecord,
  now: Partial<DocumentRecord>,
): Promise<boolean> {
  const { documents, blocks, vectors, sources, pieces } = context.knowledge;
  await touch(context, knowledge_base);
  await blocks.deleteMany({ document: _id, generation: { $lt: generation } });
  await vectors.deleteMany({ document: _id, generation: { $lt: generation } });
  // One of the same version is of a revision that ended before it was one.
  for await (const old of sources.find(
    { document: _id, version: { $lte: version }, _id: { $ne: source } },
    { projection: { _id: 1 } },
  )) {
    for (const of of ["file", "text"] as const) await pieces.deleteMany({ document: _id, of, source: old._id });
    await sources.deleteOne({ _id: old._id });
  }
  const before = await documents.findOneAndUpdate(
    { _id, claim, generation, state: IN_WORK },
    { $set: { ...now, problem: "", attempts: 0 } },
    { returnDocument: "before" },
  );
  if (before === null) return false;
  await context.room.takeKnowledge(before.owner, 0, (now.held ?? 0) - heldBy(before));
  return true;
}

/** Says that what is found in a knowledge base is another from now on. */
export async function touch(context: Context, base: string): Promise<void> {
  await context
    .collection<KnowledgeBaseRecord>("knowledge base")
    .updateOne({ _id: base }, { $set: { revision: newEtag() } });
}
