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
  /** How much of the question's words it has, from 0 to 1. */
  readonly words: number;
  /** What its meaning merits, from 0 to 1; 0 also if it is not compared. */
  readonly meaning: number;
  /** It is one of few that have a name or number of the question as a whole. */
  readonly isExact: boolean;
}

/** How candidates are ranked. */
export interface Weights {
  readonly limit: number;
  /** How much words count, from 0 to 1; the rest is for meaning. */
  readonly lexicalWeight: number;
}

/** Of the places that are asked for, the last ones that go to what is exact and would be left out. */
const FOR_EXACT = 1 / 2;

/**
 * The candidates that fit best, the best first. Words and meaning are each scored alone:
 * no score depends on the other candidates. A passage that has a rare name or number of the question as a whole is
 * among them for certain.
 */
export function fused(candidates: readonly Candidate[], { limit, lexicalWeight }: Weights): Hit[] {
  const all = candidates
    .map(({ base, document, generation, position, words, meaning, isExact }) => ({
      hit: { base, document, generation, position, score: lexicalWeight * words + (1 - lexicalWeight) * meaning },
      isExact,
    }))
    .sort(
      ({ hit: a }, { hit: b }) => b.score - a.score || (a.document < b.document ? -1 : 1) || a.position - b.position,
    );
  const missed = all
    .slice(limit)
    .filter(({ isExact }) => isExact)
    .slice(0, Math.ceil(limit * FOR_EXACT));
  const kept = all.slice(0, limit);
  // In the place of the worst of what is not exact itself.
  for (let at = kept.length - 1; at >= 0 && missed.length > 0; at--) if (!kept[at]!.isExact) kept[at] = missed.pop()!;
  return kept.map(({ hit }) => hit);
}
