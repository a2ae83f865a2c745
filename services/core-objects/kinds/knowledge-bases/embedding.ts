import { invalidArgument } from "../../../shared/rpc/errors.js";
import type { KnowledgeBaseRecord } from "./record.js";

/** How a knowledge base is embedded. */
export type Embedding = Pick<KnowledgeBaseRecord, "integrations" | "embedding_model" | "reembed">;

/**
 * How a knowledge base is embedded from now on. Another integration has other models.
 *
 * @param integrationId "" for the built-in model; undefined to keep it.
 * @throws ConnectError invalid_argument for a model of nobody.
 */
export function embeddingAfter(
  current: Embedding,
  {
    integrationId,
    embeddingModel,
  }: { readonly integrationId?: string | undefined; readonly embeddingModel?: string | undefined },
): Embedding {
  const integrations = integrationId === undefined ? current.integrations : integrationId === "" ? [] : [integrationId];
  const isOther = integrations[0] !== current.integrations[0];
  const embedding_model = embeddingModel ?? (isOther ? "" : current.embedding_model);
  if (embedding_model !== "" && integrations.length === 0)
    throw invalidArgument("embedding_model belongs to an integration: give integration_id too, or omit both");
  const isSame = !isOther && embedding_model === current.embedding_model;
  return { integrations, embedding_model, reembed: current.reembed || !isSame };
}
