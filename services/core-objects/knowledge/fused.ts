/** A passage that was found: the position-th of its document, from 0. */
export interface Hit {
  readonly base: string;
  readonly document: string;
  readonly generation: number;
  readonly position: number;
  /** From 0 to 1. */
  readonly score: number;
}

/** A passage that takes part in the ranking. */
export interface Candidate extends Omit<Hit, "score"> {
  /** How well its words fit, from 0 upwards. */
  readonly words: number;
  /** A cosine; undefined if its knowledge base is searched by words alone, or by another model than embedded it. */
  readonly meaning: number | undefined;
}

/** How candidates are ranked. */
export interface Weights {
  readonly limit: number;
  /** How much words count, from 0 to 1; the rest is for meaning. */
  readonly lexicalWeight: number;
}

/**
 * The candidates that fit best, the best first. Words and meaning are each brought to the range from 0 to 1 over all
 * candidates, and added by their weight. A candidate without a meaning counts by its words alone, so that it has the
 * same chance as the others.
 */
export function fused(candidates: readonly Candidate[], { limit, lexicalWeight }: Weights): Hit[] {
  let [least, most, mostWords] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.MIN_VALUE];
  for (const { words, meaning } of candidates) {
    mostWords = Math.max(mostWords, words);
    if (meaning === undefined) continue;
    least = Math.min(least, meaning);
    most = Math.max(most, meaning);
  }
  const scoreOf = (words: number, cosine: number | undefined): number => {
    if (cosine === undefined) return words / mostWords;
    const meaning = most === least ? 1 : (cosine - least) / (most - least);
    return lexicalWeight * (words / mostWords) + (1 - lexicalWeight) * meaning;
  };
  return candidates
    .map(({ base, document, generation, position, words, meaning }) => ({
      ...{ base, document, generation, position },
      score: scoreOf(words, meaning),
    }))
    .sort((a, b) => b.score - a.score || (a.document < b.document ? -1 : 1) || a.position - b.position)
    .slice(0, limit);
}
