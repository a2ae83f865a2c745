import { KnowledgeBaseSchema, KnowledgeBaseService } from "#proto/core/v1/knowledge_base_service_pb.js";
import { defineKind } from "../../objects/define-kind.js";
import { given } from "../../objects/given.js";
import { embeddingAfter } from "./embedding.js";
import type { KnowledgeBaseRecord } from "./record.js";

const { listKnowledgeBases, getKnowledgeBase, createKnowledgeBase, updateKnowledgeBase, deleteKnowledgeBase } =
  KnowledgeBaseService.method;

const BUILT_IN = { integrations: [], embedding_model: "" } as const;

/** Knowledge bases: documents that are found by what they mean. */
export const kind = defineKind({
  noun: "knowledge base",
  plural: "knowledge bases",
  message: KnowledgeBaseSchema,
  references: { integrations: "integration" },
  view: (record: KnowledgeBaseRecord, refer) => ({
    integration: record.integrations.map(refer.integrations)[0],
    embeddingModel: record.embedding_model === "" ? undefined : record.embedding_model,
  }),
  list: {
    rpc: listKnowledgeBases,
    hidden: ["integration", "embeddingModel", "owner", "sharing", "etag", "createdAt", "updatedAt"],
  },
  get: { rpc: getKnowledgeBase },
  create: { rpc: createKnowledgeBase, content: (request) => embeddingAfter(BUILT_IN, request) },
  update: {
    rpc: updateKnowledgeBase,
    changes: ({ name, integrationId, embeddingModel }, current) => ({
      ...given({ name }),
      ...embeddingAfter(current, { integrationId, embeddingModel }),
    }),
  },
  delete: { rpc: deleteKnowledgeBase },
});
