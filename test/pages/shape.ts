// What of a page must be as it is, whatever the day: ids, times, counts and names of rows vary, fields do not.

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** A list's last entry on a page, which counts the rows that are left out. */
const MORE = /^… \d+ more$/;

/** Ids of a text, as pages write them. */
export const idsIn = (text: string): string[] => text.match(ID) ?? [];

/** A value with types for values; a list has the fields of all its rows. */
export function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) {
    const rows = value.filter((one) => !(typeof one === "string" && MORE.test(one)));
    return rows.map(shapeOf).reduce<unknown[]>((all, one) => (all.length === 0 ? [one] : [merged(all[0], one)]), []);
  }
  if (typeof value !== "object" || value === null) return typeof value;
  const entries = Object.entries(value).map(([name, one]) => [name, shapeOf(one)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function merged(a: unknown, b: unknown): unknown {
  if (Array.isArray(a) && Array.isArray(b)) {
    if (a.length === 0 || b.length === 0) return a.length === 0 ? b : a;
    return [merged(a[0], b[0])];
  }
  if (!isRecord(a) || !isRecord(b)) return a === b ? a : [...new Set(`${a}|${b}`.split("|"))].sort().join("|");
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
  return Object.fromEntries(
    names.map((name) => [name, name in a && name in b ? merged(a[name], b[name]) : (a[name] ?? b[name])]),
  );
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * A page of questions with what varies left out: answers are shapes, ids and
 * what stands between ** are masked. Calls stay as they are.
 */
export function shapeOfPage(page: string): string {
  return page
    .replace(/returns\n\n```json\n([\s\S]*?)\n```/g, (_, answer: string) => {
      return `returns\n\n${JSON.stringify(shapeOf(JSON.parse(answer)), null, 1)}`;
    })
    .replace(ID, "ID")
    .replace(/\[\s*"ID"(,\s*"ID")*\s*\]/g, '["ID"]')
    .replace(/\*\*[^*]+\*\*/g, "**VALUE**");
}
