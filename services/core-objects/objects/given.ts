/** What a request gives: without the members that are undefined. */
export function given<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const present: { [K in keyof T]?: unknown } = {};
  for (const name in members) if (members[name] !== undefined) present[name] = members[name];
  return present as ReturnType<typeof given<T>>;
}
