import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { v7 as uuid } from "uuid";
import type { UpdateDocumentRequestSchema, UpdateDocumentResponseSchema } from "#proto/core/v1/document_service_pb.js";
import type { Call } from "../../../shared/rpc/call.js";
import type { Context } from "../../context.js";
import { checkChanges } from "../../objects/check-changes.js";
import { ATTEMPTS, contended, newEtag } from "../../objects/gate.js";
import { given as givenOf } from "../../objects/given.js";
import { documentView, typeOf } from "../document-view.js";
import { writableDocument } from "../gate.js";
import { sourceOf } from "../given-source.js";
import { dueOf } from "../head-start.js";
import { touch } from "../ingest.js";
import type { DocumentRecord } from "../records.js";

type Request = MessageShape<typeof UpdateDocumentRequestSchema>;

/** Gives a document another text or name; what is searched of it stays until the new text is, as a whole. */
export async function updateDocument(
  context: Context,
  request: Request,
  { caller }: Call,
): Promise<MessageInitShape<typeof UpdateDocumentResponseSchema>> {
  checkChanges(request.name !== undefined || request.content !== undefined || request.file.length > 0);
  const { documents, sources } = context.knowledge;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const { document, base } = await writableDocument(context, request.documentId, request.etag, caller);
    const type = typeOf(request.type, document.type);
    const given = sourceOf(request, type);
    const changes = changesOf(request.name, document, given && { type, bytes: given.bytes });
    // The text before is there until the new one is searchable: it is given back then.
    const grows = given?.bytes ?? 0;
    await context.room.takeKnowledge(document.owner, 0, grows);
    const { source, version } = changes;
    if (source !== undefined && version !== undefined && given !== undefined) {
      const { bytes: _, ...kept } = given;
      await sources.insertOne({ _id: source, document: document._id, version, ...kept });
    }
    const { _id, etag } = document;
    const after = await documents.findOneAndUpdate(
      { _id, etag },
      { $set: changes, $inc: { held: grows } },
      { returnDocument: "after" },
    );
    if (after === null) {
      await context.room.takeKnowledge(document.owner, 0, -grows);
      if (source !== undefined) await sources.deleteOne({ _id: source });
      continue;
    }
    if (request.name !== undefined) await touch(context, base._id);
    context.knowledge.wake();
    return { document: documentView(after) };
  }
  throw contended("document");
}

function changesOf(
  name: string | undefined,
  document: DocumentRecord,
  next: Pick<DocumentRecord, "type" | "bytes"> | undefined,
): Partial<DocumentRecord> {
  const now = new Date();
  const changes = { ...givenOf({ name }), etag: newEtag(), updated_at: now };
  if (next === undefined) return changes;
  return {
    ...changes,
    ...next,
    version: document.version + 1,
    generation: document.generation + 1,
    source: uuid(),
    state: "waiting",
    problem: "",
    due: dueOf(next.bytes),
    claim: "",
    attempts: 0,
    total: 0,
    done: 0,
  };
}
