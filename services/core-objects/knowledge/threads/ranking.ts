import { serveThread } from "../../../shared/process/thread.js";
import { indexClass } from "./index-class.js";
import { type Hit, type Question, Ranker, type Searchable } from "./ranker.js";

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
  put({ base, one }: { readonly base: string; readonly one: Searchable }): void {
    ranker.put(base, one);
    grow();
  },
  remove({ base, document }: { readonly base: string; readonly document: string }): void {
    ranker.remove(base, document);
  },
  drop(base: string): void {
    ranker.drop(base);
  },
  rank(question: Question): Hit[] {
    const hits = ranker.rank(question);
    grow();
    return hits;
  },
};

/** What the thread answers to. */
export type RankingMethods = typeof methods;

serveThread(methods);
