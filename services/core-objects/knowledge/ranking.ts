import { createThread } from "../../shared/process/thread.js";
import type { DocCollection } from "../../shared/store/store.js";
import type { Question } from "./apart/ranker.js";
import type { RankingMethods } from "./apart/ranking.js";
import { COMPARED } from "./candidates.js";
import { type Candidate, fused, type Hit, type Weights } from "./fused.js";
import { type HeldBase, HeldBases, type HeldDocument, type Revised } from "./held-bases.js";
import type { Mirror, Mirrored } from "./mirror.js";
import type { BlockRecord, DocumentRecord } from "./records.js";

/** Heap of the thread; vectors are beside it. */
const MEGABYTES = 2_048;
/** The dearest document known takes ten seconds on a busy machine to be taken in, and a question a tenth of one. */
const CALL_MS = 30_000;
/** Megabytes of passages and vectors that a process keeps in memory if nothing else is set. */
export const MEMORY_MEGABYTES = 1_024;

/** Ranks passages in a thread of its own. */
export interface Ranking {
  /**
   * Brings what is in memory of a knowledge base to what is in the store.
   *
   * @param again also if it is of that revision: a document is switched before the knowledge base says so.
   * @returns the lengths of the vectors of its documents, by the id of the embedder.
   */
  load(base: Revised, again: boolean): Promise<ReadonlyMap<string, ReadonlySet<number>>>;
  /**
   * Ranks the passages of all these knowledge bases, some at a time if memory does not hold them together.
   *
   * @returns the best, and the knowledge bases that could not be searched.
   */
  rank(
    question: Omit<Question, "bases" | "found"> & Weights,
    bases: readonly Revised[],
  ): Promise<{ readonly hits: Hit[]; readonly missing: readonly string[] }>;
  /** Bytes of passages and vectors that are in memory, about. */
  heldBytes(): number;
  close(): Promise<void>;
}

/** Where a {@link Ranking} reads, and how much it keeps. */
export interface RankingOptions {
  readonly documents: DocCollection<DocumentRecord>;
  readonly blocks: DocCollection<BlockRecord>;
  readonly mirror?: Mirror | undefined;
  /** MEMORY_MEGABYTES if left out. */
  readonly megabytes?: number | undefined;
}

/** Reads documents and blocks of the store when they are first asked for. */
export function createRanking({ documents, blocks, mirror, megabytes = MEMORY_MEGABYTES }: RankingOptions): Ranking {
  const room = megabytes * 2 ** 20;
  const thread = createThread<RankingMethods>(new URL("apart/ranking.js", import.meta.url), {
    megabytes: MEGABYTES,
    ms: CALL_MS,
    ended: () => bases.clear(),
  });
  const bases = new HeldBases({ documents, blocks, thread, room });

  async function load(base: Revised, again: boolean): Promise<HeldBase | undefined> {
    const before = bases.get(base.id)?.revision;
    const one = await bases.load(base, again);
    if (mirror !== undefined && one !== undefined && (again || one.revision !== before) && one.passages > COMPARED)
      mirror.bring(base.id, one.revision, [...one.documents].filter(hasVectors).map(mirrored));
    return one;
  }

  function mirrored([document, { generation, embedder }]: [string, HeldDocument]): Mirrored {
    return {
      ...{ document, generation, embedder },
      async vectors() {
        const found = await blocks.find({ document, generation }, { sort: { n: 1 } }).toArray();
        return { all: joined(found), dimensions: found[0]?.dimensions ?? 1 };
      },
    };
  }

  /** What the database finds of a question about more than is compared one by one. */
  async function foundIn(question: Question, held: readonly HeldBase[]): Promise<Question> {
    if (mirror === undefined || held.reduce((sum, one) => sum + one.passages, 0) <= COMPARED) return question;
    const revisions = new Map(question.bases.map((id, i) => [id, held[i]!.revision]));
    return { ...question, found: await mirror.find(question, revisions) };
  }

  /** The candidates of those knowledge bases that are in memory, and the others. */
  async function candidatesIn(
    question: Omit<Question, "bases">,
    asked: readonly Revised[],
  ): Promise<{ readonly candidates: readonly Candidate[]; readonly left: readonly Revised[] }> {
    const here = asked.flatMap(({ id }) => {
      const one = bases.get(id);
      return one === undefined ? [] : [{ id, one }];
    });
    const held = here.map(({ one }) => one);
    const { candidates, held: found } = await thread.call(
      "candidates",
      await foundIn({ ...question, bases: here.map(({ id }) => id) }, held),
    );
    const done = new Set([...found, ...here.flatMap(({ id, one }) => (one.documents.size === 0 ? [id] : []))]);
    return { candidates, left: asked.filter(({ id }) => !done.has(id)) };
  }

  return {
    async load(base, again) {
      const lengths = new Map<string, Set<number>>();
      const documents = [...((await load(base, again))?.documents ?? [])];
      for (const [, { embedder, dimensions }] of documents.filter(hasVectors))
        lengths.set(embedder, (lengths.get(embedder) ?? new Set()).add(dimensions));
      return lengths;
    },
    async rank(question, asked) {
      const { limit, lexicalWeight, ...rest } = question;
      const candidates: Candidate[] = [];
      let left = asked;
      // Other searches may take the memory meanwhile, so that some are tried again: not for ever.
      for (let tries = 0; left.length > 0 && tries <= 2 * asked.length; tries++) {
        const found = await candidatesIn(rest, left);
        candidates.push(...found.candidates);
        left = found.left;
        let bytes = 0;
        for (const base of left) {
          bytes += (await load(base, false))?.bytes ?? 0;
          if (bytes > room / 2) break;
        }
      }
      return { hits: fused(candidates, { limit, lexicalWeight }), missing: left.map(({ id }) => id) };
    },
    heldBytes: () => bases.bytes,
    close: () => thread.close(),
  };
}

/** Whether it is not found by its words alone. */
function hasVectors([, { embedder }]: readonly [string, HeldDocument]): boolean {
  return embedder !== "";
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
