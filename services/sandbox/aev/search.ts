import { Bare, invalid, refusal } from "./replies.js";

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

/** What goes before the search: some routes check the page in a way that gives no reason. */
export interface SearchRules {
  readonly silent?: boolean;
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
  { silent = false }: SearchRules,
  view: (row: Row) => unknown,
): unknown {
  const { page, size, textSearch, sorts, filterGroup } = inputOf(input, silent);
  let found = rows.filter((row) => matchesText(row, fields, textSearch) && matchesGroup(row, fields, filterGroup));
  found = sorts.length > 0 ? sorted(found, fields, sorts) : rotated(found);
  const content = found.slice(page * size, (page + 1) * size).map(view);
  return envelope(content, page, size, found.length, sorts.length > 0);
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
  if (text === "") return true;
  // As in SQL's LIKE: % stands for any text.
  const parts = text.toLowerCase().split("%");
  return Object.values(fields).some((field) => {
    if (field.text !== true) return false;
    const held = String(field.of(row) ?? "").toLowerCase();
    let from = 0;
    return parts.every((part) => {
      const at = held.indexOf(part, from);
      from = at + part.length;
      return at >= 0;
    });
  });
}

function matchesGroup<Row>(row: Row, fields: Fields<Row>, { mode, filters = [] }: Input["filterGroup"]): boolean {
  const results = filters.map((filter) => matches(row, fields, filter));
  return results.length === 0 || (mode === "or" ? results.some(Boolean) : results.every(Boolean));
}

function matches<Row>(row: Row, fields: Fields<Row>, filter: Record<string, unknown>): boolean {
  const { key, operator = "eq", values, mode = "or" } = filter;
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
  if (wanted.length === 0) return true;
  const one = (value: string): boolean => matchesValue(held, String(operator), value, field.instant === true);
  return Array.isArray(held) && mode === "and" ? wanted.every(one) : wanted.some(one);
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
  const texts = (Array.isArray(held) ? held : [held ?? ""]).map((text) => String(text).toLowerCase());
  const text = value.toLowerCase();
  if (operator === "eq") return texts.includes(text);
  return texts.some((have) => (operator === "contains" ? have.includes(text) : have.startsWith(text)));
}

function sorted<Row>(rows: Row[], fields: Fields<Row>, sorts: readonly Sort[]): Row[] {
  const orders = sorts.map(({ property, direction, nullHandling }) => {
    const field = fields[property];
    if (field?.sort !== true) throw refusal(400, `Unknown sort property '${property}', please try an other one`);
    const descending = String(direction).toLowerCase() === "desc";
    // As in PostgreSQL: what has no value is the greatest.
    const nullsLast = nullHandling === "NULLS_LAST" || !descending;
    return (a: Row, b: Row) => compare(field.of(a), field.of(b), descending, nullsLast);
  });
  return rows.sort((a, b) => {
    for (const order of orders) {
      const difference = order(a, b);
      if (difference !== 0) return difference;
    }
    return 0;
  });
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
