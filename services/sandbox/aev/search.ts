import { matchesWildcards } from "../wildcards.js";
import { Bare, invalid, refusal } from "./replies.js";
import { chance } from "./runs.js";

// POST …/search: the platform's pages, filters and sorts with their refusals.

type Value = string | number | readonly string[] | null;

/** A field that can be searched by. */
export interface Field<Row> {
  readonly of: (row: Row) => Value;
  readonly filter?: boolean;
  readonly sort?: boolean;
  /** Full text looks into it. */
  readonly text?: boolean;
  /** Milliseconds since the epoch, filtered by full instants. */
  readonly instant?: boolean;
}

/** The fields of a kind, by their JSON names. */
export type Fields<Row> = Readonly<Record<string, Field<Row>>>;

/** What goes before the search, and how it is made. */
export interface SearchRules {
  /** The page is checked in a way that gives no reason. */
  readonly silent?: boolean;
  /**
   * What a filter on a list of ids does to the rows, where the search joins that
   * list: `rows` repeats a row for every value that matches, and counts it so
   * often; `values` leaves the values that do not match out of the row.
   */
  readonly joined?: "rows" | "values";
  /** A sort may say where rows without a value stand; elsewhere such a sort fails. */
  readonly placesNulls?: boolean;
}

const OPERATORS = new Set(
  "eq not_eq contains not_contains starts_with not_starts_with gt gte lt lte empty not_empty".split(" "),
);
const FULL_INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;
let turn = 0;

/** Answers a search over rows that the caller may see. */
export function searchRows<Row>(
  rows: readonly Row[],
  fields: Fields<Row>,
  input: unknown,
  { silent = false, joined, placesNulls = false }: SearchRules,
  view: (row: Row) => unknown,
): unknown {
  const { page, size, textSearch, sorts, filterGroup } = inputOf(input, silent);
  let found = rows.filter((row) => matchesText(row, fields, textSearch) && matchesGroup(row, fields, filterGroup));
  const joins = (filterGroup.filters ?? []).filter(({ values }) => Array.isArray(values) && values.length > 0);
  const hits = (row: Row, filter: Record<string, unknown>): string[] => hitsOf(row, fields, filter);
  if (joined === "rows") {
    found = found.flatMap((row) => {
      const times = joins.reduce((product, filter) => product * Math.max(1, hits(row, filter).length), 1);
      return Array<Row>(times).fill(row);
    });
  }
  // "Applying Null Precedence using Criteria Queries is not yet supported."
  if (!placesNulls && sorts.some(({ nullHandling }) => nullHandling !== undefined)) throw new Bare(500);
  found = sorts.length > 0 ? sorted(found, fields, sorts, `${page}/${size}`) : rotated(found);
  const content = found.slice(page * size, (page + 1) * size).map((row) => {
    const shown = view(row);
    const left = joined === "values" ? joins.filter((filter) => hits(row, filter).length > 0) : [];
    return Object.assign({}, shown, Object.fromEntries(left.map((filter) => [filter.key, hits(row, filter)])));
  });
  return envelope(content, page, size, found.length, sorts.length > 0);
}

/** The values of a list of ids that a filter finds; none for other fields. */
function hitsOf<Row>(row: Row, fields: Fields<Row>, { key, operator, values }: Record<string, unknown>): string[] {
  const held = fields[String(key)]?.of(row);
  if (!Array.isArray(held) || (operator !== "contains" && operator !== "eq")) return [];
  return (held as string[]).filter((one) => (values as unknown[]).some((value) => like(one, `%${String(value)}%`)));
}

function envelope(content: readonly unknown[], page: number, size: number, total: number, isSorted: boolean): unknown {
  const sort = { sorted: isSorted, unsorted: !isSorted, empty: !isSorted };
  const totalPages = Math.ceil(total / size);
  return {
    content,
    pageable: { pageNumber: page, pageSize: size, sort, offset: page * size, paged: true, unpaged: false },
    last: page + 1 >= totalPages,
    totalElements: total,
    totalPages,
    first: page === 0,
    number: page,
    numberOfElements: content.length,
    sort,
    size,
    empty: content.length === 0,
  };
}

interface Sort {
  readonly property: string;
  readonly direction?: unknown;
  readonly nullHandling?: unknown;
}

interface Input {
  readonly page: number;
  readonly size: number;
  readonly textSearch: string;
  readonly sorts: readonly Sort[];
  readonly filterGroup: { readonly mode?: string; readonly filters?: readonly Record<string, unknown>[] };
}

function inputOf(input: unknown, silent: boolean): Input {
  if (typeof input !== "object" || input === null || Array.isArray(input)) throw new Bare(400);
  const { page = 0, size = 20, textSearch, sorts, filterGroup } = input as Record<string, unknown>;
  if (typeof page !== "number" || typeof size !== "number") throw new Bare(400);
  const errors = {
    ...(size > 1000 && { size: "must be less than or equal to 1000" }),
    ...(page < 0 && { page: "must be greater than or equal to 0" }),
  };
  if (Object.keys(errors).length > 0) throw silent ? new Bare(400) : invalid(errors);
  if (size < 1) throw refusal(400, "Page size must not be less than one");
  return {
    page,
    size,
    textSearch: typeof textSearch === "string" ? textSearch : "",
    sorts: (sorts as Sort[] | null) ?? [],
    filterGroup: (filterGroup as Input["filterGroup"] | null) ?? {},
  };
}

function matchesText<Row>(row: Row, fields: Fields<Row>, text: string): boolean {
  if (text.trim() === "") return true;
  return Object.values(fields).some((field) => field.text === true && like(String(field.of(row) ?? ""), `%${text}%`));
}

/** The database's lower case of what it holds, which is another than that of what it is asked for. */
function lowered(held: string): string {
  return held.replaceAll("İ", "i").toLowerCase();
}

/** As SQL's LIKE, in any case: % stands for any text and _ for any character, and nothing escapes them. */
function like(held: string, pattern: string): boolean {
  return matchesWildcards(lowered(held), pattern.toLowerCase(), { any: "%", one: "_" });
}

/** The rows that meet a group of filters. @throws Refusal or Bare for one that the platform fails over. */
export function matching<Row>(rows: readonly Row[], fields: Fields<Row>, group: Input["filterGroup"]): Row[] {
  return rows.filter((row) => matchesGroup(row, fields, group));
}

function matchesGroup<Row>(row: Row, fields: Fields<Row>, { mode, filters = [] }: Input["filterGroup"]): boolean {
  const results = filters.map((filter) => matches(row, fields, filter));
  return results.length === 0 || (mode === "or" ? results.some(Boolean) : results.every(Boolean));
}

function matches<Row>(row: Row, fields: Fields<Row>, filter: Record<string, unknown>): boolean {
  const { key, operator = "eq", values, mode = "and" } = filter;
  if (typeof key !== "string") throw new Bare(500);
  if (!OPERATORS.has(String(operator))) throw new Bare(400);
  const field = fields[key];
  if (field?.filter !== true) throw refusal(400, `This path is not handled by Queryable annotation: ${key}`);
  const held = field.of(row);
  if (operator === "empty" || operator === "not_empty") {
    const isEmpty = held === null || held === "" || (Array.isArray(held) && held.length === 0);
    return isEmpty === (operator === "empty");
  }
  const wanted = Array.isArray(values) ? values.map(String) : [];
  if (wanted.every((value) => value.trim() === "")) return true;
  // What is compared with the words for truth values is taken for one, and no field here is.
  if (/^(not_)?eq$/.test(String(operator)) && wanted.some((value) => /^(true|false)$/i.test(value)))
    throw new Bare(500);
  const one = (value: string): boolean =>
    value.trim() === "" || matchesValue(held, String(operator), value, field.instant === true);
  const isAll = (operator === "contains" && mode === "and") || operator === "not_contains";
  return isAll ? wanted.every(one) : wanted.some(one);
}

function matchesValue(held: Value, operator: string, value: string, instant: boolean): boolean {
  if (operator.startsWith("not_")) return !matchesValue(held, operator.slice(4), value, instant);
  if (instant || /^[gl]te?$/.test(operator)) {
    if (!FULL_INSTANT.test(value)) throw new Bare(500);
    if (typeof held !== "number") return false;
    const at = Date.parse(value);
    if (operator === "gt") return held > at;
    if (operator === "gte") return held >= at;
    if (operator === "lt") return held < at;
    return operator === "lte" ? held <= at : held === at;
  }
  const texts = (Array.isArray(held) ? held : [held ?? ""]).map((text) => lowered(String(text)));
  const text = value.toLowerCase();
  if (operator === "eq") return texts.includes(text);
  return texts.some((have) => like(have, operator === "contains" ? `%${text}%` : `${text}%`));
}

/** Rows that the sorts leave equal come in another order on every page, as nothing orders them. */
function sorted<Row>(rows: Row[], fields: Fields<Row>, sorts: readonly Sort[], page: string): Row[] {
  const orders = sorts.map(({ property, direction, nullHandling }) => {
    const field = fields[property];
    if (field?.sort !== true) throw refusal(400, `Unknown sort property '${property}', please try an other one`);
    const descending = String(direction).toLowerCase() === "desc";
    // As in PostgreSQL: what has no value is the greatest.
    const nullsLast = nullHandling === "NULLS_LAST" || !descending;
    return (a: Row, b: Row) => compare(field.of(a), field.of(b), descending, nullsLast);
  });
  const shuffled = rows.map((row, at) => ({ row, place: chance(`${page} ${at}`, 1 << 20) }));
  shuffled.sort((a, b) => {
    for (const order of orders) {
      const difference = order(a.row, b.row);
      if (difference !== 0) return difference;
    }
    return a.place - b.place;
  });
  return shuffled.map(({ row }) => row);
}

function compare(a: Value, b: Value, descending: boolean, nullsLast: boolean): number {
  if (a === null || b === null) return a === b ? 0 : (a === null) === nullsLast ? 1 : -1;
  const difference =
    typeof a === "number" && typeof b === "number" ? a - b : String(a) < String(b) ? -1 : a === b ? 0 : 1;
  return descending ? -difference : difference;
}

/** Without a sort no order is promised, so none is kept. */
function rotated<Row>(rows: Row[]): Row[] {
  const at = rows.length === 0 ? 0 : turn++ % rows.length;
  return [...rows.slice(at), ...rows.slice(0, at)];
}
