/** What stands somewhere at one moment: JSON by id. */
export type Standing = ReadonlyMap<string, unknown>;

/**
 * What is different after a write: `id.field.field`, sorted, and "+id" and
 * "-id" for what came and went.
 *
 * @param ignored fields that change by themselves, such as the time of the last change.
 */
export function changesBetween(before: Standing, after: Standing, ignored: readonly string[] = []): string[] {
  const changes: string[] = [];
  for (const [id, value] of after) {
    if (before.has(id)) changes.push(...different(before.get(id), value, id, ignored));
    else changes.push(`+${id}`);
  }
  for (const id of before.keys()) if (!after.has(id)) changes.push(`-${id}`);
  return changes.sort();
}

function different(before: unknown, after: unknown, at: string, ignored: readonly string[]): string[] {
  if (Object.is(before, after)) return [];
  const both = [before, after];
  if (both.every(isRecord)) {
    const [a, b] = both as Record<string, unknown>[];
    const names = new Set([...Object.keys(a!), ...Object.keys(b!)]);
    return [...names]
      .filter((name) => !ignored.includes(name))
      .flatMap((name) => different(a![name], b![name], `${at}.${name}`, ignored));
  }
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [at];
}

function isRecord(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
