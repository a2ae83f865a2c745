import { invalidArgument } from "../../../shared/rpc/errors.js";
import type { Query } from "../../lib/http.js";
import type { Place } from "../../lib/pages.js";
import type { Platform } from "../../platform.js";
import type { Dated } from "./by-time.js";
import { type Part, type Rows, readAll, readPage, readTenantPage } from "./lists.js";
import { justAfter, wholeMicros } from "./moments.js";
import { makeSure, type Tenant } from "./tenancy.js";

/** An order by something other than the time of creation. */
export interface Rank<T> {
  /** As the platform is asked for it; by ids where rows are equal. */
  readonly ordering: string;
  /** What it goes by, where lists are put together here. */
  readonly of: (row: T) => string;
  readonly isDescending?: boolean;
  /** A filter for the rows that have a value: those without one come last, where the platform puts them by its database. */
  readonly known?: Query;
}

/** Where a page ended: what the first page saw, how many rows that was, and the last ids of the page. */
interface Mark {
  readonly until: string;
  readonly total: number;
  readonly ids: readonly string[];
}

/** So many of the last rows can be deleted between two pages without a row coming twice. */
const IDS_KEPT = 3;
const MARK = /^([0-9T:.Z-]{20,27}),(\d{1,9})((?:,[0-9a-f-]{36}){1,3})$/;

/**
 * Reads the page at a place of the list that queries make together, in an order
 * of the platform. All pages hold what was there at the first: what is created
 * meanwhile would move the others, and comes with the next first page. What is
 * deleted meanwhile moves them too: a page begins after the last rows of the
 * page before, wherever they are by then.
 *
 * @throws ConnectError invalid_argument for a place that is none of such a list;
 * resource_exhausted, where more than one query finds more than is sorted here.
 */
export async function readByRank<T extends Dated>(
  platform: Platform,
  path: string,
  queries: readonly Query[],
  rank: Rank<T>,
  place: Place,
  tenant: Tenant,
): Promise<Rows<T>> {
  const mark = markOf(place.cursor);
  const until = mark?.until ?? (await newestOf(platform, path, queries));
  if (until === undefined) {
    await makeSure(platform, tenant);
    return { rows: [], totalSize: 0 };
  }
  // The newest itself is among them, so that the bound is the moment after it.
  const bounded = queries.map((query) => ({ ...query, ordering: rank.ordering, created_at__lt: justAfter(until) }));
  const [only] = bounded;
  const all = bounded.length === 1 ? [] : sorted(await readAll<T>(platform, path, bounded, tenant), rank);
  const read: Reading<T> = (part) =>
    bounded.length === 1
      ? readKnownFirst<T>(platform, path, only!, rank, part, tenant)
      : Promise.resolve({ rows: all.slice(part.offset, part.offset + part.size), totalSize: all.length });
  const { rows, offset, totalSize } = await readAfter(read, mark, place);
  const end = offset + rows.length;
  const ids = [...(mark?.ids ?? []), ...rows.map(({ id }) => id)].slice(-IDS_KEPT);
  const isLast = rows.length === 0 || end >= totalSize;
  return {
    rows,
    totalSize,
    rowCount: end - place.offset,
    isLast,
    cursor: isLast ? undefined : [until, totalSize, ...ids].join(),
  };
}

type Reading<T> = (part: Part) => Promise<Rows<T>>;

/** Reads rows of a list in the platform's order, but those without a value after all others. */
async function readKnownFirst<T extends Dated>(
  platform: Platform,
  path: string,
  query: Query,
  rank: Rank<T>,
  part: Part,
  tenant: Tenant,
): Promise<Rows<T>> {
  const read = (query: Query, part: Part) => readTenantPage<T>(platform, path, query, part, tenant);
  if (rank.known === undefined) return read(query, part);
  const known = await read(narrowed(query, rank.known), part);
  const missing = part.size - known.rows.length;
  const first = await read(query, { size: 1, offset: 0 });
  if (missing === 0 || first.totalSize === known.totalSize) return { rows: known.rows, totalSize: first.totalSize };
  // They stand all before or all after the others.
  const isBefore = first.rows[0] !== undefined && rank.of(first.rows[0]) === NONE;
  const offset = Math.max(0, part.offset - known.totalSize) + (isBefore ? 0 : known.totalSize);
  const size = Math.min(missing, first.totalSize - known.totalSize - Math.max(0, part.offset - known.totalSize));
  const rest = size <= 0 ? [] : (await read(query, { size, offset })).rows;
  return { rows: [...known.rows, ...rest], totalSize: first.totalSize };
}

/** A query with filters, but for those that it has by itself. */
function narrowed(query: Query, filters: Query): Query {
  return { ...query, ...Object.fromEntries(Object.entries(filters).filter(([name]) => query[name] === undefined)) };
}

/** What a row without a value is sorted by: it comes after all others. */
export const NONE = "~";

/** The rows after a mark, and where they begin by now. */
async function readAfter<T extends Dated>(read: Reading<T>, mark: Mark | undefined, { offset, size }: Place) {
  if (mark === undefined) return { ...(await read({ offset: 0, size })), offset: 0 };
  const from = Math.max(0, offset - mark.ids.length);
  const page = await read({ offset: from, size: offset - from + size });
  const found = placeAfter(page.rows, mark.ids);
  if (found !== undefined) return { ...page, rows: page.rows.slice(found, found + size), offset: from + found };
  // Before the page, no more rows can have gone than are missing in all.
  const start = Math.max(0, from - Math.max(0, mark.total - page.totalSize));
  const wider = await read({ offset: start, size: offset - start + size });
  // Where none of them is left, rows come twice rather than not at all.
  const next = placeAfter(wider.rows, mark.ids) ?? Math.min(from - start, wider.rows.length);
  return { ...wider, rows: wider.rows.slice(next, next + size), offset: start + next };
}

/** The index after the last of some ids that still stands where it stood: behind the one before it, if that is there. */
function placeAfter(rows: readonly Dated[], ids: readonly string[]): number | undefined {
  const at = ids.map((id) => rows.findIndex((row) => row.id === id));
  for (let i = ids.length - 1; i >= 0; i--) {
    const before = at[i - 1] ?? -1;
    if (at[i]! >= 0 && (before < 0 || before === at[i]! - 1)) return at[i]! + 1;
  }
  return undefined;
}

function markOf(cursor: string | undefined): Mark | undefined {
  if (cursor === undefined) return undefined;
  const [, until, total, ids] = MARK.exec(cursor) ?? [];
  if (until === undefined || ids === undefined) {
    throw invalidArgument("page_token: is not valid; leave it out for the first page");
  }
  return { until, total: Number(total), ids: ids.slice(1).split(",") };
}

function sorted<T extends Dated>(all: T[], { of, isDescending = false }: Rank<T>): T[] {
  const sign = isDescending ? -1 : 1;
  return all.sort((a, b) => (of(a) === of(b) ? (a.id < b.id ? -1 : 1) : of(a) < of(b) ? -sign : sign));
}

/** When the newest of all was made; undefined where there is none. */
async function newestOf(platform: Platform, path: string, queries: readonly Query[]): Promise<string | undefined> {
  let newest: string | undefined;
  for (const query of queries) {
    const first = { ...query, ordering: "-created_at,id" };
    const [row] = (await readPage<Dated>(platform, path, first, { size: 1, offset: 0 })).rows;
    const at = row && wholeMicros(row.created_at);
    if (at !== undefined && (newest === undefined || at > newest)) newest = at;
  }
  return newest;
}
