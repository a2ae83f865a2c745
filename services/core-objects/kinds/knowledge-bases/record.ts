import type { ObjectRecord } from "../../record.js";

/** A knowledge base as it is stored; its documents stand in collections of their own. */
export interface KnowledgeBaseRecord extends ObjectRecord {
  /** One, whose model embeds the documents; none for the built-in model. */
  readonly integrations: readonly string[];
  /** The model of the integration; "" for its first one. */
  readonly embedding_model: string;
  /** Another one whenever what is found in it is. */
  readonly revision: string;
  /** Its documents are to be embedded anew. */
  readonly reembed: boolean;
}
