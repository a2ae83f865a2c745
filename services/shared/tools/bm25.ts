// Plain Okapi BM25 over given tokens: how tools are found by words.

const K1 = 1.2;
const B = 0.75;

/** Ranks documents for a query: their indices, best first; those without any of its tokens are left out. */
export type Ranking = (query: readonly string[]) => number[];

/** An index of documents, each given as its tokens. Equal scores keep the order of the documents. */
export function bm25(documents: readonly (readonly string[])[]): Ranking {
  const counts = documents.map(countsOf);
  const average = documents.reduce((sum, { length }) => sum + length, 0) / Math.max(1, documents.length);
  return (query) => {
    const scores = new Map<number, number>();
    for (const token of new Set(query)) {
      const holding = counts.filter((count) => count.has(token)).length;
      const idf = Math.log(1 + (documents.length - holding + 0.5) / (holding + 0.5));
      for (const [at, count] of counts.entries()) {
        const tf = count.get(token) ?? 0;
        if (tf === 0) continue;
        const length = (documents[at] as readonly string[]).length / average;
        scores.set(at, (scores.get(at) ?? 0) + (idf * tf * (K1 + 1)) / (tf + K1 * (1 - B + B * length)));
      }
    }
    return [...scores].sort(([a, x], [b, y]) => y - x || a - b).map(([at]) => at);
  };
}

/** How often each token is among those. */
export function countsOf(tokens: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const token of tokens) counts.set(token, (counts.get(token) ?? 0) + 1);
  return counts;
}
