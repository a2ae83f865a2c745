import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { v7 as uuid } from "uuid";
import type { ReviseDocumentRequestSchema, ReviseDocumentResponseSchema } from "#proto/core/v1/document_service_pb.js";
import type { Call } from "../../../shared/rpc/call.js";
import type { Context } from "../../context.js";
import { checkChanges } from "../../objects/check-changes.js";
import { ATTEMPTS, contended, newEtag } from "../../objects/gate.js";
import { given } from "../../objects/given.js";
import { documentView, typeOf } from "../document-view.js";
import { writableDocument } from "../gate.js";
import { touch } from "../ingest.js";
import type { DocumentRecord } from "../records.js";

type Request = MessageShape<typeof ReviseDocumentRequestSchema>;

/** Gives a document another text or name; what is searched of it stays until the new text is, as a whole. */
export async function reviseDocument(
  context: Context,
  request: Request,
  { caller }: Call,
): Promise<MessageInitShape<typeof ReviseDocumentResponseSchema>> {
  checkChanges({ name: request.name, content: request.content }, "documentId");
  const { documents, sources } = context.knowledge;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const { document, base } = await writableDocument(context, request.documentId, request.etag, caller);
    const changes = changesOf(request, document);
    const grows = (changes.bytes ?? document.bytes) - document.bytes;
    await context.room.take(document.owner, 0, grows);
    const { source, version } = changes;
    if (source !== undefined && version !== undefined)
      await sources.insertOne({ _id: source, document: document._id, version, text: request.content! });
    const { _id, etag } = document;
    const after = await documents.findOneAndUpdate({ _id, etag }, { $set: changes }, { returnDocument: "after" });
    if (after === null) {
      await context.room.take(document.owner, 0, -grows);
      if (source !== undefined) await sources.deleteOne({ _id: source });
      continue;
    }
    if (request.name !== undefined) await touch(context, base._id);
    context.knowledge.wake();
    return { document: documentView(after) };
  }
  throw contended("document");
}

function changesOf({ name, type, content }: Request, document: DocumentRecord): Partial<DocumentRecord> {
  const now = new Date();
  const changes = { ...given({ name }), etag: newEtag(), updated_at: now };
  if (content === undefined) return changes;
  return {
    ...changes,
    type: typeOf(type, document.type),
    version: document.version + 1,
    generation: document.generation + 1,
    source: uuid(),
    bytes: Buffer.byteLength(content),
    state: "waiting",
    problem: "",
    due: now,
    claim: "",
    attempts: 0,
    total: 0,
    done: 0,
  };
}
