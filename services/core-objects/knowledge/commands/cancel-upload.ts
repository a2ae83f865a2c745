import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type {
  CancelUploadRequestSchema,
  CancelUploadResponseSchema,
} from "#proto/core/v1/document_upload_service_pb.js";
import type { Call } from "../../../shared/rpc/call.js";
import { failedPrecondition } from "../../../shared/rpc/errors.js";
import type { Context } from "../../context.js";
import { removeDocument } from "../remove-document.js";
import { uploadOf } from "../upload.js";

/** Deletes an upload that is not finished. */
export async function cancelUpload(
  context: Context,
  { uploadId }: MessageShape<typeof CancelUploadRequestSchema>,
  { caller }: Call,
): Promise<MessageInitShape<typeof CancelUploadResponseSchema>> {
  const { _id } = await uploadOf(context, uploadId, caller);
  const leaving = { $set: { state: "leaving" as const, due: new Date() } };
  const { matchedCount } = await context.knowledge.documents.updateOne({ _id, state: "uploading" }, leaving);
  if (matchedCount === 0) throw failedPrecondition("the upload is finished: delete its document with delete_document");
  await removeDocument(context, { _id });
  return {};
}
