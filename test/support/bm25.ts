import { countsOf } from "../../services/shared/tools/bm25.js";

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
