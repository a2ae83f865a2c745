import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { v7 as uuid } from "uuid";
import type { CreateDocumentRequestSchema, CreateDocumentResponseSchema } from "#proto/core/v1/document_service_pb.js";
import type { Call } from "../../../shared/rpc/call.js";
import { aborted, invalidArgument } from "../../../shared/rpc/errors.js";
import { isDuplicateKey } from "../../../shared/store/store.js";
import { COMPANY } from "../../company.js";
import type { Context } from "../../context.js";
import { checkNotBlank } from "../../objects/check-given.js";
import { newEtag } from "../../objects/gate.js";
import { documentView, typeOf } from "../document-view.js";
import { checkManaged, readableBase } from "../gate.js";
import { sourceOf } from "../given-source.js";
import { dueOf } from "../head-start.js";
import type { DocumentRecord } from "../records.js";

/** Adds a document to a knowledge base; repeating it with its request_id gives the document that it added. */
export async function createDocument(
  context: Context,
  {
    knowledgeBaseId,
    name,
    type: word,
    content,
    file,
    url,
    requestId,
  }: MessageShape<typeof CreateDocumentRequestSchema>,
  { caller }: Call,
): Promise<MessageInitShape<typeof CreateDocumentResponseSchema>> {
  const { documents, sources } = context.knowledge;
  checkNotBlank("name", name);
  checkNotBlank("content", content);
  const base = await readableBase(context, knowledgeBaseId, caller);
  checkManaged(base, caller);
  const type = typeOf(word, "markdown");
  const given = sourceOf({ content, file, url }, type);
  if (given === undefined) throw invalidArgument("give the content of the document, a file or a url");
  const { bytes, ...source } = given;
  const _id = uuid();
  const request = requestId === "" ? _id : `${caller.id}:${requestId}`;
  const earlier = requestId === "" ? null : await documents.findOne({ knowledge_base: base._id, request });
  if (earlier !== null) return { document: documentView(earlier) };
  const now = new Date();
  const document: DocumentRecord = {
    _id,
    knowledge_base: base._id,
    owner: base.owner === "" ? COMPANY : base.owner,
    name,
    type,
    version: 1,
    source: uuid(),
    bytes,
    held: bytes,
    generation: 1,
    serving: null,
    state: "waiting",
    problem: "",
    due: dueOf(bytes),
    claim: "",
    attempts: 0,
    total: 0,
    done: 0,
    etag: newEtag(),
    request,
    created_at: now,
    updated_at: now,
  };
  await context.room.takeKnowledge(document.owner, 1, document.bytes);
  await sources.insertOne({ _id: document.source, document: _id, version: 1, ...source });
  try {
    await documents.insertOne(document);
  } catch (error) {
    await sources.deleteOne({ _id: document.source });
    await context.room.takeKnowledge(document.owner, -1, -document.bytes);
    if (!isDuplicateKey(error)) throw error;
    const same = await documents.findOne({ knowledge_base: base._id, request });
    if (same === null)
      throw aborted("the document that this request_id created was deleted during the call: repeat the call");
    return { document: documentView(same) };
  }
  context.knowledge.wake();
  return { document: documentView(document) };
}
