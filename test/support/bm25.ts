// Plain Okapi BM25 over given tokens. MiniSearch, which the tests have, measures a
// text by its different words instead of all of them, so its order is another one.

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

/** The vectors of documents: term frequency by smoothed inverse document frequency, of length 1. */
export function tfIdf(documents: readonly (readonly string[])[]): ReadonlyMap<string, number>[] {
  const counts = documents.map(countsOf);
  const holding = countsOf(counts.flatMap((count) => [...count.keys()]));
  return counts.map((count) => {
    const weights = [...count].map(([token, tf]) => {
      const idf = Math.log((1 + documents.length) / (1 + (holding.get(token) as number))) + 1;
      return [token, tf * idf] as const;
    });
    const length = Math.hypot(...weights.map(([, weight]) => weight));
    return new Map(weights.map(([token, weight]) => [token, weight / length]));
  });
}

/** How alike two vectors of length 1 are: from 0 to 1. */
export function cosine(one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): number {
  return [...one].reduce((sum, [token, weight]) => sum + weight * (other.get(token) ?? 0), 0);
}

function countsOf(tokens: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const token of tokens) counts.set(token, (counts.get(token) ?? 0) + 1);
  return counts;
}
