/**
 * The order of a round: every variant once, and in each round another one first, so that none always follows the same
 * one or always comes at the end.
 */
export function turnsOf<T>(variants: readonly T[], round: number): T[] {
  const first = variants.length === 0 ? 0 : round % variants.length;
  return [...variants.slice(first), ...variants.slice(0, first)];
}
