import type { Filter, Kind, View } from "../kinds/kind.js";
import { type Reply, refused } from "../replies.js";
import { lists } from "../rights.js";
import type { Json, Row } from "../world.js";

/** The page where no limit is given; a limit has no cap. */
const DEFAULT_LIMIT = 5_000;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text has the form of a UUID. */
export const isUuid = (text: string): boolean => UUID.test(text);

/** The words of a search: a pair of quotes holds one. An empty one, and a lone quote, is in everything. */
function wordsIn(search: string): string[] {
  const words = search.match(/"[^"]*"|'[^']*'|[^\s,]+/g) ?? [];
  return words.map((word) => (/^(["']).*\1$|^["']$/s.test(word) ? word.slice(1, -1) : word)).filter(Boolean);
}

/** Answers a list: what the caller may see, filtered, searched, ordered and cut. */
export function listOf(kind: Kind, query: URLSearchParams, view: View): Reply {
  let rows = view.world.all(kind.path).filter((row) => lists(view.world, view.user, kind.codename, row));
  for (const name of new Set(query.keys())) {
    const filter = Object.hasOwn(kind.filters, name) ? kind.filters[name] : undefined;
    if (filter === undefined) continue;
    const values = query.getAll(name).filter((value) => value !== "");
    const problem = problemOf(filter, values, view);
    if (problem !== undefined) return refused({ [name]: [problem] });
    if (values.length > 0) rows = rows.filter((row) => matches(filter, values, row, view));
  }
  const ids = query.get("id");
  if (ids !== null && ids !== "") rows = rows.filter((row) => ids.split(",").includes(row.id));
  const words = wordsIn((query.get("search") ?? "").toLowerCase());
  const holds = (row: Row, word: string) => kind.search.some((f) => textIn(row, f, view).includes(word));
  if (words.length > 0) rows = rows.filter((row) => words.every((word) => holds(row, word)));
  rows.sort(orderOf(query.get("ordering"), rows));
  const limit = positive(query.get("limit")) ?? DEFAULT_LIMIT;
  const offset = positive(query.get("offset")) ?? 0;
  return {
    status: 200,
    json: {
      count: rows.length,
      next: offset + limit < rows.length ? linkOf(kind, query, limit, offset + limit) : null,
      previous: offset > 0 ? linkOf(kind, query, limit, offset - limit) : null,
      results: rows.slice(offset, offset + limit).map((row) => (kind.row ?? kind.read)(row, view)),
    },
  };
}

function problemOf(filter: Filter, values: readonly string[], view: View): string | undefined {
  for (const value of values) {
    const wrong = `Select a valid choice. ${value} is not one of the available choices.`;
    if (filter.kind === "choice" && !Object.hasOwn(filter.choices, value)) return wrong;
    if (filter.kind === "related") {
      if (!isUuid(value)) return `“${value}” is not a valid value.`;
      if (view.world.get(filter.path, value) === undefined) return wrong;
    }
  }
  return undefined;
}

function matches(filter: Filter, values: readonly string[], row: Row, view: View): boolean {
  if (filter.kind === "related") {
    const wanted = filter.last === true ? values.slice(-1) : values;
    return filter.of(row, view.world).some((id) => wanted.includes(id));
  }
  const own = filter.of(row);
  const has = String(own);
  if (filter.kind === "from") return own != null && values.every((value) => has >= value);
  if (filter.kind === "before") return own != null && values.every((value) => has < value);
  return values.includes(has);
}

/** The text of a field, or of a relation's field for a name such as requirement__name. */
function textIn(row: Row, field: string, view: View): string {
  const [first = "", second] = field.split("__");
  if (second === undefined) return String(row[first] ?? "").toLowerCase();
  const related = view.world.get(RELATED[first] ?? "", row[first]);
  return String(related?.[second] ?? "").toLowerCase();
}

const RELATED: Readonly<Record<string, string>> = {
  requirement: "requirement-nodes",
  framework: "frameworks",
  folder: "folders",
};

function orderOf(ordering: string | null, rows: readonly Row[]): (a: Row, b: Row) => number {
  const first = rows[0];
  const known = (ordering ?? "")
    .split(",")
    .filter((term) => first !== undefined && Object.hasOwn(first, term.replace(/^-/, "")));
  const terms = known.length > 0 ? known : ["created_at"];
  return (a, b) => {
    for (const term of terms) {
      const field = term.replace(/^-/, "");
      const difference = compare(a[field], b[field]);
      if (difference !== 0) return term.startsWith("-") ? -difference : difference;
    }
    return 0;
  };
}

function compare(a: Json | undefined, b: Json | undefined): number {
  if (a === b) return 0;
  if (a === null || a === undefined) return -1;
  if (b === null || b === undefined) return 1;
  return a < b ? -1 : 1;
}

function positive(text: string | null): number | undefined {
  const number = Number(text ?? "");
  return Number.isInteger(number) && number > 0 ? number : undefined;
}

/** Links are relative, their parameters in alphabetical order. */
function linkOf({ path }: Kind, query: URLSearchParams, limit: number, offset: number): string {
  const link = new URLSearchParams(query);
  link.set("limit", String(limit));
  if (offset > 0) link.set("offset", String(offset));
  else link.delete("offset");
  link.sort();
  return `/api/${path}/?${link}`;
}
