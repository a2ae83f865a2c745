import { DocumentService } from "#proto/core/v1/document_service_pb.js";
import { DocumentUploadService } from "#proto/core/v1/document_upload_service_pb.js";
import { KnowledgeBaseSchema, KnowledgeBaseService } from "#proto/core/v1/knowledge_base_service_pb.js";
import { unary } from "../../../shared/rpc/method.js";
import { appendUpload } from "../../knowledge/commands/append-upload.js";
import { beginUpload } from "../../knowledge/commands/begin-upload.js";
import { cancelUpload } from "../../knowledge/commands/cancel-upload.js";
import { createDocument } from "../../knowledge/commands/create-document.js";
import { deleteDocument } from "../../knowledge/commands/delete-document.js";
import { finishUpload } from "../../knowledge/commands/finish-upload.js";
import { getKnowledgeBase } from "../../knowledge/commands/get-knowledge-base.js";
import { listDocuments } from "../../knowledge/commands/list-documents.js";
import { readDocument } from "../../knowledge/commands/read-document.js";
import { searchKnowledge } from "../../knowledge/commands/search-knowledge.js";
import { updateDocument } from "../../knowledge/commands/update-document.js";
import { markLeaving } from "../../knowledge/worker.js";
import { defineKind } from "../../objects/define-kind.js";
import { newEtag } from "../../objects/gate.js";
import { given } from "../../objects/given.js";
import { embeddingAfter } from "./embedding.js";
import type { KnowledgeBaseRecord } from "./record.js";

const { listKnowledgeBases, createKnowledgeBase, updateKnowledgeBase, deleteKnowledgeBase, ...special } =
  KnowledgeBaseService.method;
const document = DocumentService.method;
const upload = DocumentUploadService.method;

const BUILT_IN = { integrations: [], embedding_model: "", reembed: false } as const;

/** Knowledge bases: documents that are found by what they mean. */
export const kind = defineKind({
  noun: "knowledge base",
  plural: "knowledge bases",
  message: KnowledgeBaseSchema,
  references: { integrations: "integration" },
  detaching: { integrations: "give them another with update_knowledge_base and integration_id" },
  view: (record: KnowledgeBaseRecord, refer) => ({
    integration: record.integrations.map(refer.integrations)[0],
    embeddingModel: record.embedding_model === "" ? undefined : record.embedding_model,
  }),
  list: {
    rpc: listKnowledgeBases,
    hidden: ["integration", "embeddingModel", "owner", "sharing", "etag", "createdAt", "updatedAt"],
  },
  create: {
    rpc: createKnowledgeBase,
    // Nothing is there to be embedded anew.
    content: (request) => ({ ...embeddingAfter(BUILT_IN, request), reembed: false, revision: newEtag() }),
  },
  update: {
    rpc: updateKnowledgeBase,
    changes: ({ name, integrationId, embeddingModel }, current) => ({
      ...given({ name }),
      ...embeddingAfter(current, { integrationId, embeddingModel }),
    }),
  },
  delete: { rpc: deleteKnowledgeBase, after: (context, { _id }) => markLeaving(context, _id).then(() => undefined) },
  leaving: { hasDocuments: true },
  commands: (context) => [
    unary(special.getKnowledgeBase, (request, call) => getKnowledgeBase(context, request, call)),
    unary(special.searchKnowledge, (request, call) => searchKnowledge(context, request, call)),
    unary(document.listDocuments, (request, call) => listDocuments(context, request, call)),
    unary(document.readDocument, (request, call) => readDocument(context, request, call)),
    unary(document.createDocument, (request, call) => createDocument(context, request, call)),
    unary(document.updateDocument, (request, call) => updateDocument(context, request, call)),
    unary(document.deleteDocument, (request, call) => deleteDocument(context, request, call)),
    unary(upload.beginUpload, (request, call) => beginUpload(context, request, call)),
    unary(upload.appendUpload, (request, call) => appendUpload(context, request, call)),
    unary(upload.finishUpload, (request, call) => finishUpload(context, request, call)),
    unary(upload.cancelUpload, (request, call) => cancelUpload(context, request, call)),
  ],
  capabilities: [{ name: "knowledge_base", action: "read", enabled: true }],
  indexes: [{ name: "reembed", key: { reembed: 1 } }],
});
