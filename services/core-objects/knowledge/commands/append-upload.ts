import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type {
  AppendUploadRequestSchema,
  AppendUploadResponseSchema,
} from "#proto/core/v1/document_upload_service_pb.js";
import type { Call } from "../../../shared/rpc/call.js";
import { invalidArgument } from "../../../shared/rpc/errors.js";
import type { Context } from "../../context.js";
import { checkSignature } from "../given-source.js";
import { pieceIdOf, writePiece } from "../pieces.js";
import { PIECE } from "../records.js";
import { noUpload, uploadDue, uploadOf } from "../upload.js";

/** Stores a piece of a file. */
export async function appendUpload(
  context: Context,
  { uploadId, offset, data }: MessageShape<typeof AppendUploadRequestSchema>,
  { caller }: Call,
): Promise<MessageInitShape<typeof AppendUploadResponseSchema>> {
  const { _id, source, state, type, bytes } = await uploadOf(context, uploadId, caller);
  // Its last answer may have been lost: the file is there.
  if (state !== "uploading") return {};
  const length = Math.min(PIECE, bytes - offset);
  if (offset % PIECE !== 0 || data.length !== length)
    throw invalidArgument(
      `a piece begins at a multiple of ${PIECE} and has ${PIECE} bytes, or what is left of the ${bytes} of the file`,
    );
  if (offset === 0) checkSignature(data, type);
  const { knowledge } = context;
  const whose = { document: _id, source, of: "file" as const };
  const n = offset / PIECE;
  await writePiece(knowledge, whose, n, { start: offset, data });
  const { matchedCount } = await knowledge.documents.updateOne(
    { _id, state: "uploading", claim: "" },
    { $set: { due: uploadDue() } },
  );
  if (matchedCount === 1) return {};
  if ((await knowledge.documents.findOne({ _id }, { projection: { _id: 1 } })) !== null) return {};
  await knowledge.pieces.deleteOne({ _id: pieceIdOf(whose, n) });
  throw noUpload(uploadId);
}
