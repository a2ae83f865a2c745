import type { DocCollection, Store } from "../../shared/store/store.js";
import type { Connecting } from "../objects/connection.js";
import type { Principals } from "../principals.js";
import { type Cutter, createCutter } from "./cutter.js";
import type { Embedders } from "./embedder.js";
import { createEmbedders, type EmbedderParts } from "./embedders.js";
import { createMirror } from "./mirror.js";
import type { PrefixSetting } from "./prefixes.js";
import { createQuestions, type Questions } from "./questions.js";
import { createRanking, type Ranking } from "./ranking.js";
import {
  BLOCKS,
  type BlockRecord,
  DOCUMENTS,
  type DocumentRecord,
  PIECES,
  type PieceRecord,
  SOURCES,
  type SourceRecord,
  VECTORS,
  type VectorRecord,
} from "./records.js";

/** How knowledge is found and made searchable, where not as usual. */
export interface KnowledgeOptions {
  /** How much words count in a search, from 0 to 1; the rest is for meaning. */
  readonly lexicalWeight?: number;
  /** Documents that a process works on at a time. */
  readonly atOnce?: number;
  /** How long a document is worked on before others have their turn, in milliseconds. */
  readonly turnMs?: number;
  /** What a process keeps of passages and vectors in memory. */
  readonly memoryMegabytes?: number;
  /** How often work that another process left is looked for, in milliseconds. */
  readonly pollMs?: number;
  /** How long a process that is silent keeps a document to itself, in milliseconds. */
  readonly leaseMs?: number;
  /** How long a document that is held up waits until it is looked at again, in milliseconds. */
  readonly heldUpMs?: number;
  /** How long a document waits for its second try, in milliseconds; twice as long for each that follows. */
  readonly firstWaitMs?: number;
  /** What stands before questions and passages for the models of integrations, where it is not as known. */
  readonly prefixes?: PrefixSetting | undefined;
  /** In place of the built-in model and those of integrations. */
  readonly embedders?: Embedders;
}

/** How much words count where nothing else is said: measured, see docs/decisions/0083-words-first.md. */
export const LEXICAL_WEIGHT = 0.8;

/** Documents of knowledge bases, and what finds passages of them. */
export interface Knowledge {
  readonly documents: DocCollection<DocumentRecord>;
  readonly sources: DocCollection<SourceRecord>;
  readonly pieces: DocCollection<PieceRecord>;
  readonly blocks: DocCollection<BlockRecord>;
  readonly vectors: DocCollection<VectorRecord>;
  readonly embedders: Embedders;
  readonly ranking: Ranking;
  readonly questions: Questions;
  readonly cutter: Cutter;
  /** Does one thing after the other, in the order in which they come. */
  inOrder<T>(work: () => Promise<T>): Promise<T>;
  readonly principals: Pick<Principals, "groupsOf">;
  readonly options: KnowledgeOptions;
  /** There is work: a document came, or goes. Set by who does it. */
  wake: () => void;
  /** The database's own search for vectors failed; memory answers. Set by who tells it. */
  failed: (error: Error) => void;
  close(): Promise<void>;
}

/** What knowledge needs of the rest of the service. */
export interface KnowledgeParts extends EmbedderParts {
  readonly integrations: DocCollection<Connecting>;
  readonly principals: Pick<Principals, "groupsOf">;
}

/** Opens the collections; threads and processes start when they are first needed. */
export async function openKnowledge(
  store: Store,
  { integrations, principals, ...parts }: KnowledgeParts,
  options: KnowledgeOptions = {},
): Promise<Knowledge> {
  await store.ensure([DOCUMENTS, SOURCES, PIECES, BLOCKS, VECTORS]);
  const documents = store.collection<DocumentRecord>(DOCUMENTS.name);
  const blocks = store.collection<BlockRecord>(BLOCKS.name);
  const embedders = options.embedders ?? createEmbedders(integrations, { ...parts, prefixes: options.prefixes });
  const mirror = createMirror(store, (error) => knowledge.failed(error));
  const knowledge: Knowledge = {
    documents,
    sources: store.collection<SourceRecord>(SOURCES.name),
    pieces: store.collection<PieceRecord>(PIECES.name),
    blocks,
    vectors: store.collection<VectorRecord>(VECTORS.name),
    embedders,
    ranking: createRanking({ documents, blocks, mirror, megabytes: options.memoryMegabytes }),
    cutter: createCutter(parts.processes),
    inOrder: createOrder(),
    questions: createQuestions(embedders, principals),
    principals,
    options,
    wake() {},
    failed() {},
    async close() {
      await knowledge.ranking.close();
      await knowledge.cutter.close();
      await embedders.close();
    },
  };
  return knowledge;
}

function createOrder(): Knowledge["inOrder"] {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work);
    last = next.catch(() => undefined);
    return next;
  };
}
