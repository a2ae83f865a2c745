import { serveThread } from "../../../shared/process/thread.js";
import type { Candidate } from "../fused.js";
import { packedTerms, type Worded } from "../packed-terms.js";
import { indexClass } from "./index-class.js";
import { type Question, Ranker } from "./ranker.js";
import type { AddedVectors, Portion, Searchable } from "./searchable.js";

const ranker = new Ranker(indexClass());

let isGrowing = false;

/** Indexes grow between questions. */
function grow(): void {
  if (isGrowing) return;
  isGrowing = true;
  const more = (): void => {
    isGrowing = ranker.grow();
    if (isGrowing) setImmediate(more);
  };
  setImmediate(more);
}

const methods = {
  put({ base, some }: { readonly base: string; readonly some: readonly Searchable[] }): void {
    for (const one of some) ranker.put(base, one);
    grow();
  },
  stage({ base, ...portion }: Portion & { readonly base: string }): void {
    ranker.stage(base, portion);
  },
  unstage({ base, document }: { readonly base: string; readonly document: string }): void {
    ranker.unstage(base, document);
  },
  embed({ base, ...added }: AddedVectors & { readonly base: string }): void {
    ranker.embed(base, added);
    grow();
  },
  /** What the passages of a block are found by. */
  terms: (passages: readonly Worded[]): Uint8Array => packedTerms(passages),
  remove({ base, document }: { readonly base: string; readonly document: string }): void {
    ranker.remove(base, document);
  },
  drop(base: string): void {
    ranker.drop(base);
  },
  /** What takes part in the ranking, and of which knowledge bases that is all. */
  candidates(question: Question): { readonly candidates: Candidate[]; readonly held: string[] } {
    const candidates = ranker.candidates(question);
    grow();
    return { candidates, held: ranker.held(question.bases) };
  },
};

/** What the thread answers to. */
export type RankingMethods = typeof methods;

serveThread(methods);
