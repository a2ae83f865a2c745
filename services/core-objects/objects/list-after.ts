/** A list after something was added and something removed; what is there keeps its place. */
export function listAfter(
  current: readonly string[],
  add: readonly string[],
  remove: readonly string[] = [],
): string[] {
  const gone = new Set(remove);
  return [...new Set([...current, ...add])].filter((item) => !gone.has(item));
}
