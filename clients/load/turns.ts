/** Something with a weight: of weights 1 and 3, the second is taken three times as often. */
export type Weighted<T> = readonly [what: T, weight: number];

/**
 * Takes things in order, each as often as its weight says and as evenly as
 * possible (smooth weighted round robin): 3 and 1 make b a b b, not b b b a.
 *
 * @throws RangeError if no weight is above 0.
 */
export function createTurns<T>(weighted: readonly Weighted<T>[]): () => T {
  const turns = weighted.filter(([, weight]) => weight > 0).map(([what, weight]) => ({ what, weight, credit: 0 }));
  const [first] = turns;
  if (first === undefined) throw new RangeError("no weight is above 0");
  const total = turns.reduce((sum, { weight }) => sum + weight, 0);
  return () => {
    let next = first;
    for (const turn of turns) {
      turn.credit += turn.weight;
      if (turn.credit > next.credit) next = turn;
    }
    next.credit -= total;
    return next.what;
  };
}
