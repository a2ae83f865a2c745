import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { DeleteDocumentRequestSchema, DeleteDocumentResponseSchema } from "#proto/core/v1/document_service_pb.js";
import type { Call } from "../../../shared/rpc/call.js";
import type { Context } from "../../context.js";
import { ATTEMPTS, contended, newEtag } from "../../objects/gate.js";
import { writableDocument } from "../gate.js";
import { touch } from "../ingest.js";
import { removeDocument } from "../remove-document.js";

/**
 * Deletes a document. It is marked first, and nobody finds it from then on; where
 * this process ends before the rest is gone, the worker takes that away.
 */
export async function deleteDocument(
  context: Context,
  { documentId, etag }: MessageShape<typeof DeleteDocumentRequestSchema>,
  { caller }: Call,
): Promise<MessageInitShape<typeof DeleteDocumentResponseSchema>> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const { document, base } = await writableDocument(context, documentId, etag, caller);
    const mark = { state: "leaving" as const, due: new Date(), claim: "", etag: newEtag() };
    const { matchedCount } = await context.knowledge.documents.updateOne(
      { _id: document._id, etag: document.etag },
      { $set: mark },
    );
    if (matchedCount === 0) continue;
    await touch(context, base._id);
    await removeDocument(context, document);
    return { id: document._id };
  }
  throw contended("document");
}
