/** A list after something was added and something removed; what is there keeps its place. It is the same one if nothing is given. */
export function listAfter(
  current: readonly string[],
  add: readonly string[],
  remove: readonly string[] = [],
): readonly string[] {
  if (add.length === 0 && remove.length === 0) return current;
  const gone = new Set(remove);
  return [...new Set([...current, ...add])].filter((item) => !gone.has(item));
}
