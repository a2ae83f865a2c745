import { serveThread } from "../../../shared/process/thread.js";
import { type Hit, type Question, Ranker, type Searchable } from "./ranker.js";

const ranker = new Ranker();

const methods = {
  put({ base, one }: { readonly base: string; readonly one: Searchable }): void {
    ranker.put(base, one);
  },
  remove({ base, document }: { readonly base: string; readonly document: string }): void {
    ranker.remove(base, document);
  },
  drop(base: string): void {
    ranker.drop(base);
  },
  rank(question: Question): Hit[] {
    return ranker.rank(question);
  },
};

/** What the thread answers to. */
export type RankingMethods = typeof methods;

serveThread(methods);
