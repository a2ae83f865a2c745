import { createThread } from "../../shared/process/thread.js";
import type { DocCollection } from "../../shared/store/store.js";
import { COMPARED } from "./candidates.js";
import type { Mirror, Mirrored } from "./mirror.js";
import type { BlockRecord, DocumentRecord, PassageRecord, ServingRecord } from "./records.js";
import type { Hit, Question } from "./threads/ranker.js";
import type { RankingMethods } from "./threads/ranking.js";

/** Heap of the thread; vectors are beside it. */
const MEGABYTES = 2_048;
/** Passages that are kept in memory; the knowledge bases that were asked longest ago give way. */
const MAX_PASSAGES = 200_000;

/** What is known of a knowledge base in memory. */
interface Known {
  /** Of the knowledge base, when its documents were looked at. */
  revision: string;
  readonly documents: Map<string, Loaded>;
}

/** A document in memory. */
interface Loaded {
  readonly stamp: string;
  readonly generation: number;
  readonly embedder: string;
  readonly passages: number;
}

/** Ranks passages in a thread of its own, which holds those of the knowledge bases that are asked. */
export interface Ranking {
  /**
   * Brings what is in memory of a knowledge base to what is in the store.
   *
   * @param revision of the knowledge base, read before: what changes after it is brought next time.
   * @param again also where it is of that revision: a document is switched before the knowledge base says so.
   * @returns what its documents are embedded by.
   */
  load(base: { readonly id: string; readonly revision: string; readonly again: boolean }): Promise<ReadonlySet<string>>;
  rank(question: Question): Promise<Hit[]>;
  close(): Promise<void>;
}

/** Reads documents and blocks of the store when they are first asked for. */
export function createRanking(
  documents: DocCollection<DocumentRecord>,
  blocks: DocCollection<BlockRecord>,
  mirror?: Mirror,
): Ranking {
  // In the order in which they were last asked.
  const known = new Map<string, Known>();
  const loading = new Map<string, Promise<unknown>>();
  const thread = createThread<RankingMethods>(new URL("threads/ranking.js", import.meta.url), {
    megabytes: MEGABYTES,
    ended: () => known.clear(),
  });

  async function put(base: string, { _id, name }: DocumentRecord, serving: ServingRecord): Promise<boolean> {
    const found = await blocks.find({ document: _id, generation: serving.generation }, { sort: { n: 1 } }).toArray();
    const passages: Pick<PassageRecord, "text" | "headings">[] = [];
    for (const block of found) for (const { text, headings } of block.passages) passages.push({ text, headings });
    // It was revised meanwhile: the next revision of the knowledge base says so.
    if (passages.length !== serving.passages) return false;
    const vectors = joined(found);
    const { generation, embedder } = serving;
    const one = { document: _id, name, generation, embedder, passages, vectors };
    await thread.call("put", { base, one }, [vectors.buffer as ArrayBuffer]);
    return true;
  }

  async function refresh(id: string, revision: string): Promise<void> {
    const one = known.get(id) ?? { revision: "", documents: new Map() };
    known.set(id, one);
    const gone = new Set(one.documents.keys());
    for await (const document of documents.find({ knowledge_base: id }, { sort: { _id: -1 }, hint: "base" })) {
      const { _id, name, serving, state } = document;
      if (serving === null || state === "leaving") continue;
      gone.delete(_id);
      const stamp = `${serving.generation} ${name}`;
      if (one.documents.get(_id)?.stamp === stamp) continue;
      if (await put(id, document, serving)) one.documents.set(_id, { stamp, ...serving });
    }
    for (const document of gone) {
      one.documents.delete(document);
      await thread.call("remove", { base: id, document });
    }
    // The thread may have ended, and what it knew with it.
    if (known.get(id) === one) one.revision = revision;
    if (passagesIn(one) > COMPARED) mirror?.bring(id, revision, [...one.documents].map(mirrored));
  }

  function mirrored([document, { generation, embedder }]: [string, Loaded]): Mirrored {
    return {
      ...{ document, generation, embedder },
      async vectors() {
        const found = await blocks.find({ document, generation }, { sort: { n: 1 } }).toArray();
        return { all: joined(found), dimensions: found[0]?.dimensions ?? 1 };
      },
    };
  }

  /** What the database finds of a question about more than is compared one by one. */
  async function foundIn(question: Question): Promise<Question> {
    if (mirror === undefined) return question;
    const bases = question.bases.flatMap((id) => known.get(id) ?? []);
    if (bases.reduce((sum, one) => sum + passagesIn(one), 0) <= COMPARED) return question;
    const revisions = new Map([...known].map(([id, { revision }]) => [id, revision]));
    return { ...question, found: await mirror.find(question, revisions) };
  }

  async function makeRoom(kept: string): Promise<void> {
    let passages = 0;
    for (const one of known.values()) passages += passagesIn(one);
    for (const [id, one] of known) {
      if (passages <= MAX_PASSAGES) return;
      if (id === kept) continue;
      passages -= passagesIn(one);
      known.delete(id);
      await thread.call("drop", id);
    }
  }

  return {
    async load({ id, revision, again }) {
      while (again || known.get(id)?.revision !== revision) {
        const under = loading.get(id);
        if (under !== undefined) {
          await under;
          continue;
        }
        const now = refresh(id, revision);
        loading.set(id, now);
        try {
          await now;
          break;
        } finally {
          loading.delete(id);
        }
      }
      const one = known.get(id);
      if (one === undefined) return new Set();
      known.delete(id);
      known.set(id, one);
      await makeRoom(id);
      return new Set([...one.documents.values()].map(({ embedder }) => embedder));
    },
    rank: async (question) => thread.call("rank", await foundIn(question)),
    close: () => thread.close(),
  };
}

function passagesIn({ documents }: Known): number {
  let passages = 0;
  for (const one of documents.values()) passages += one.passages;
  return passages;
}

/** The vectors of all blocks in one array that is nobody else's. */
function joined(blocks: readonly BlockRecord[]): Float32Array {
  const bytes = blocks.reduce((sum, { vectors }) => sum + vectors.byteLength, 0);
  const all = new Uint8Array(bytes);
  let at = 0;
  for (const { vectors } of blocks) {
    all.set(vectors, at);
    at += vectors.byteLength;
  }
  return new Float32Array(all.buffer);
}
