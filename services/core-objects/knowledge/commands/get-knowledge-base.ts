import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type {
  GetKnowledgeBaseRequestSchema,
  GetKnowledgeBaseResponseSchema,
} from "#proto/core/v1/knowledge_base_service_pb.js";
import type { Call } from "../../../shared/rpc/call.js";
import type { Context } from "../../context.js";
import { shownOf } from "../../objects/view.js";
import { filterOf } from "../../policy.js";
import { readableBase } from "../gate.js";

/** Reads one knowledge base, with how many documents it has. */
export async function getKnowledgeBase(
  context: Context,
  { knowledgeBaseId }: MessageShape<typeof GetKnowledgeBaseRequestSchema>,
  { caller }: Call,
): Promise<MessageInitShape<typeof GetKnowledgeBaseResponseSchema>> {
  const base = await readableBase(context, knowledgeBaseId, caller);
  const { documents } = context.knowledge;
  const count = (state: "ready" | "words" | "waiting" | "failed"): Promise<number> =>
    documents.countDocuments({ knowledge_base: base._id, state }, { hint: "state" });
  const [ready, words, waiting, failed] = await Promise.all([
    count("ready"),
    count("words"),
    count("waiting"),
    count("failed"),
  ]);
  const [id] = base.integrations;
  const integration =
    id === undefined ? null : await context.collection("integration").findOne({ _id: id, ...filterOf(caller, "read") });
  return {
    knowledgeBase: {
      ...shownOf(base, caller),
      ...(id !== undefined && { integration: { id, ...(integration && { name: integration.name }) } }),
      ...(base.embedding_model !== "" && { embeddingModel: base.embedding_model }),
    },
    documentCount: ready + words + waiting + failed,
    waitingCount: waiting,
    ...(words > 0 && { wordsCount: words }),
    failedCount: failed,
  };
}
