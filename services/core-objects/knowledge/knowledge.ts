import type { DocCollection, Store } from "../../shared/store/store.js";
import type { Connecting } from "../objects/connection.js";
import type { Embedders } from "./embedder.js";
import { createEmbedders, type EmbedderParts } from "./embedders.js";
import { createMirror } from "./mirror.js";
import { createRanking, type Ranking } from "./ranking.js";
import {
  BLOCKS,
  type BlockRecord,
  DOCUMENTS,
  type DocumentRecord,
  SOURCES,
  type SourceRecord,
  VECTORS,
  type VectorRecord,
} from "./records.js";

/** How knowledge is found and made searchable, where not as usual. */
export interface KnowledgeOptions {
  /** How much words count in a search, from 0 to 1; the rest is for meaning. */
  readonly lexicalWeight?: number;
  /** How often work that another process left is looked for, in milliseconds. */
  readonly pollMs?: number;
  /** How long a process that is silent keeps a document to itself, in milliseconds. */
  readonly leaseMs?: number;
  /** How long a document waits for its second try, in milliseconds; twice as long for each that follows. */
  readonly firstWaitMs?: number;
  /** In place of the built-in model and those of integrations. */
  readonly embedders?: Embedders;
}

/** How much words count where nothing else is said: measured, see docs/decisions/0033-knowledge.md. */
export const LEXICAL_WEIGHT = 0.25;

/** Documents of knowledge bases, and what finds passages of them. */
export interface Knowledge {
  readonly documents: DocCollection<DocumentRecord>;
  readonly sources: DocCollection<SourceRecord>;
  readonly blocks: DocCollection<BlockRecord>;
  readonly vectors: DocCollection<VectorRecord>;
  readonly embedders: Embedders;
  readonly ranking: Ranking;
  readonly options: KnowledgeOptions;
  /** There is work: a document came, or goes. Set by who does it. */
  wake: () => void;
  /** The database's own search for vectors failed; memory answers. Set by who tells it. */
  failed: (error: Error) => void;
  close(): Promise<void>;
}

/** Opens the collections; threads start when they are first needed. */
export async function openKnowledge(
  store: Store,
  { integrations, ...parts }: EmbedderParts & { readonly integrations: DocCollection<Connecting> },
  options: KnowledgeOptions = {},
): Promise<Knowledge> {
  await store.ensure([DOCUMENTS, SOURCES, BLOCKS, VECTORS]);
  const documents = store.collection<DocumentRecord>(DOCUMENTS.name);
  const blocks = store.collection<BlockRecord>(BLOCKS.name);
  const embedders = options.embedders ?? createEmbedders(integrations, parts);
  const mirror = createMirror(store, (error) => knowledge.failed(error));
  const knowledge: Knowledge = {
    documents,
    sources: store.collection<SourceRecord>(SOURCES.name),
    blocks,
    vectors: store.collection<VectorRecord>(VECTORS.name),
    embedders,
    ranking: createRanking(documents, blocks, mirror),
    options,
    wake() {},
    failed() {},
    async close() {
      await knowledge.ranking.close();
      await embedders.close();
    },
  };
  return knowledge;
}
