/** The fields that a platform has a value for: null, undefined and "" count as none. */
export function given<T extends Record<string, unknown>>(
  fields: T,
): { [K in keyof T]?: Exclude<T[K], null | undefined> } {
  const kept: Record<string, unknown> = {};
  for (const name in fields) {
    const value = fields[name];
    if (value !== null && value !== undefined && value !== "") kept[name] = value;
  }
  return kept as { [K in keyof T]?: Exclude<T[K], null | undefined> };
}
