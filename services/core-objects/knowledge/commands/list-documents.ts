import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { ListDocumentsRequestSchema, ListDocumentsResponseSchema } from "#proto/core/v1/document_service_pb.js";
import type { Call } from "../../../shared/rpc/call.js";
import { pageTokenOf, positionOf } from "../../../shared/rpc/page-token.js";
import { listPage } from "../../../shared/store/page.js";
import type { Context } from "../../context.js";
import { everyPiece } from "../../objects/list.js";
import { documentRow, stateOf } from "../document-view.js";
import { isThere, readableBase } from "../gate.js";
import type { DocumentRecord } from "../records.js";

const PAGE_SIZE = 20;

/** Lists the documents of a knowledge base, the newest first. */
export async function listDocuments(
  context: Context,
  request: MessageShape<typeof ListDocumentsRequestSchema>,
  { caller }: Call,
): Promise<MessageInitShape<typeof ListDocumentsResponseSchema>> {
  const { knowledgeBaseId, query, state: word, pageSize = PAGE_SIZE, pageToken } = request;
  const { _id: knowledge_base } = await readableBase(context, knowledgeBaseId, caller);
  const state = stateOf(word);
  const { items, end, total } = await listPage(context.knowledge.documents, {
    ...(state === undefined
      ? { seen: { knowledge_base }, index: "base" }
      : { seen: { knowledge_base, state }, index: "state" }),
    wanted: everyPiece<DocumentRecord>(query, (name) => ({ name })),
    order: "_id",
    direction: -1,
    after: positionOf(pageToken, request),
    size: pageSize,
  });
  const documents = items.filter(isThere).map(documentRow);
  return {
    documents,
    ...(end !== undefined && { nextPageToken: pageTokenOf(end, request) }),
    ...(total !== undefined && { totalSize: documents.length }),
  };
}
