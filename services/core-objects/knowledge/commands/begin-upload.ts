import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { v7 as uuid } from "uuid";
import type { BeginUploadRequestSchema, BeginUploadResponseSchema } from "#proto/core/v1/document_upload_service_pb.js";
import type { Call } from "../../../shared/rpc/call.js";
import { aborted, resourceExhausted } from "../../../shared/rpc/errors.js";
import { isDuplicateKey } from "../../../shared/store/store.js";
import { COMPANY } from "../../company.js";
import type { Context } from "../../context.js";
import { newEtag } from "../../objects/gate.js";
import { documentView, typeOf } from "../document-view.js";
import { checkManaged, readableBase } from "../gate.js";
import { type DocumentRecord, PIECE } from "../records.js";
import { removeDocument } from "../remove-document.js";
import { uploadDue } from "../upload.js";

/** Uploads of a knowledge base that are not finished, at most. */
const MAX_UPLOADS = 64;

type Request = MessageShape<typeof BeginUploadRequestSchema>;
type Answer = MessageInitShape<typeof BeginUploadResponseSchema>;

/** Begins an upload, or finds what there is of the same content. */
export async function beginUpload(context: Context, request: Request, { caller }: Call): Promise<Answer> {
  const { documents, sources } = context.knowledge;
  const base = await readableBase(context, request.knowledgeBaseId, caller);
  checkManaged(base, caller);
  const there = await found(context, base._id, request);
  if (there !== undefined) return there;
  const uploads = { knowledge_base: base._id, state: "uploading" as const };
  if ((await documents.countDocuments(uploads, { hint: "state" })) >= MAX_UPLOADS)
    throw resourceExhausted(
      `this knowledge base has ${MAX_UPLOADS} unfinished uploads: finish or cancel some; those left alone are deleted after a day`,
    );
  const now = new Date();
  const { name, bytes } = request;
  const document: DocumentRecord = {
    ...{ _id: uuid(), knowledge_base: base._id, owner: base.owner === "" ? COMPANY : base.owner, name },
    ...{ type: typeOf(request.type, "text"), version: 1, source: uuid(), bytes, held: bytes, generation: 1 },
    ...{ serving: null, state: "uploading", problem: "", due: uploadDue(), claim: "", attempts: 0, total: 0, done: 0 },
    ...{ etag: newEtag(), request: requestOf(request), created_at: now, updated_at: now },
  };
  await context.room.takeKnowledge(document.owner, 1, bytes);
  const source = { document: document._id, version: 1, text: "", filed: bytes };
  await sources.insertOne({ _id: document.source, ...source });
  try {
    await documents.insertOne(document);
  } catch (error) {
    await sources.deleteOne({ _id: document.source });
    await context.room.takeKnowledge(document.owner, -1, -bytes);
    if (!isDuplicateKey(error)) throw error;
    const same = await found(context, base._id, request);
    if (same === undefined) throw aborted("the upload was deleted during the call: repeat the call");
    return same;
  }
  return { uploadId: document._id };
}

/** A knowledge base takes each content once: the index of requests says so. */
function requestOf({ sha256 }: Request): string {
  return `sha256:${sha256}`;
}

async function found(context: Context, base: string, request: Request): Promise<Answer | undefined> {
  const { documents, pieces } = context.knowledge;
  const document = await documents.findOne({ knowledge_base: base, request: requestOf(request) });
  if (document === null) return undefined;
  const { _id, source, state, type, bytes } = document;
  if (state === "leaving") throw aborted("a document of this content is being deleted: repeat the call in a moment");
  if (state !== "uploading") return { document: documentView(document) };
  if (type !== typeOf(request.type, "text") || bytes !== request.bytes) {
    // What was checked of its first piece may not hold for another type.
    await removeDocument(context, document);
    return undefined;
  }
  const renewed = { $set: { name: request.name, due: uploadDue() } };
  const { matchedCount } = await documents.updateOne({ _id, state: "uploading", claim: "" }, renewed);
  if (matchedCount === 0) throw aborted("the upload was deleted during the call: repeat the call");
  let first = 0;
  const whose = { document: _id, of: "file" as const, source };
  for await (const { n } of pieces.find(whose, { sort: { n: 1 }, projection: { n: 1 } })) {
    if (n !== first) break;
    first++;
  }
  return { uploadId: _id, receivedBytes: Math.min(bytes, first * PIECE) };
}
