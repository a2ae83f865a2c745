import { createHash } from "node:crypto";
import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type {
  FinishUploadRequestSchema,
  FinishUploadResponseSchema,
} from "#proto/core/v1/document_upload_service_pb.js";
import type { Call } from "../../../shared/rpc/call.js";
import { failedPrecondition, invalidArgument } from "../../../shared/rpc/errors.js";
import type { Context } from "../../context.js";
import { documentView } from "../document-view.js";
import { dueOf } from "../head-start.js";
import { pieceIdOf, piecesIn } from "../pieces.js";
import { type DocumentRecord, PIECE } from "../records.js";
import { noUpload, uploadOf } from "../upload.js";

/** Makes a document of an upload, once. */
export async function finishUpload(
  context: Context,
  { uploadId }: MessageShape<typeof FinishUploadRequestSchema>,
  { caller }: Call,
): Promise<MessageInitShape<typeof FinishUploadResponseSchema>> {
  const { documents } = context.knowledge;
  const upload = await uploadOf(context, uploadId, caller);
  if (upload.state !== "uploading") return { document: documentView(upload) };
  const { _id, request, bytes } = upload;
  if (`sha256:${await digestOf(context, upload)}` !== request)
    throw invalidArgument(
      "the uploaded bytes do not have the SHA-256 that the upload began with: cancel it, and send the file again",
    );
  const now = new Date();
  const { matchedCount } = await documents.updateOne(
    { _id, state: "uploading", claim: "" },
    { $set: { state: "waiting", due: dueOf(bytes), created_at: now, updated_at: now } },
  );
  // Somebody else finished it, or deleted it.
  const document = await documents.findOne({ _id });
  if (document === null || document.state === "leaving" || document.state === "uploading") throw noUpload(uploadId);
  if (matchedCount === 1) context.knowledge.wake();
  return { document: documentView(document) };
}

/** @throws ConnectError failed_precondition where a piece is missing. */
async function digestOf({ knowledge }: Context, { _id, source, bytes }: DocumentRecord): Promise<string> {
  const hash = createHash("sha256");
  for (let n = 0; n < piecesIn(bytes); n++) {
    const piece = await knowledge.pieces.findOne({ _id: pieceIdOf({ document: _id, source, of: "file" }, n) });
    if (piece === null)
      throw failedPrecondition(`the upload is not complete: send the piece at ${n * PIECE}, then finish it`);
    hash.update(piece.data);
  }
  return hash.digest("hex");
}
