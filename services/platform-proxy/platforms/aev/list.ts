import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { holdsAll, piecesOf } from "../../../shared/query-text.js";
import { type PageRequest, type Paging, type Place, pagingOf, placeOf } from "../../lib/pages.js";
import type { Platform } from "../../platform.js";
import { type Filter, isAscii, type Sort, searchOnce } from "./search.js";
import type { TenantScope } from "./tenant.js";

// The platform's own pages are no ground for ours: rows that its sort leaves
// equal come on several pages or on none, a filter on labels hides the labels
// that it does not name or gives a row once for each, and text is looked for
// with wildcards that cannot be escaped, in fields that are not asked for. So
// rows are read in large pieces, and what the platform is not exact in is
// decided here.

/** How a list is ordered; rows that are equal stand in the order of their ids. */
export interface Order<Row> {
  /** How the platform is to sort, so that reading may end before everything is read. */
  readonly sorts: readonly [Sort, ...Sort[]];
  /**
   * What a row stands by, as text whose order is the list's; undefined stands
   * last. Left out where rows do not tell: then the platform's order is kept,
   * whose sorts leave no rows equal.
   */
  readonly keyOf?: (row: Row) => string | undefined;
  /** Names stand in another order at the platform, so that all are read before any is shown. */
  readonly isOurs?: boolean;
}

/** Only rows that have one of some values, in any case. */
export interface Having<Row> {
  readonly of: (row: Row) => readonly string[] | string | null | undefined;
  readonly values: readonly string[];
}

/** Only rows of a period: instants in milliseconds, and the end is not part of it. */
export interface Within<Row> {
  readonly of: (row: Row) => string | null | undefined;
  readonly after: number;
  readonly before: number;
}

/** A list of objects of one tenant. */
export type List<Row> = Listed<Row> & (Pieced | Whole<Row>);

interface Pieced {
  /** How many rows are read at once at most: an answer is bounded. */
  readonly piece: number;
  readonly whole?: undefined;
}

interface Whole<Row> {
  /** Gives all of it, where the platform knows no pages. */
  readonly whole: () => Promise<readonly Row[]>;
}

interface Listed<Row> {
  /** The route inside the tenant, such as /scenarios/search. */
  readonly route: string;
  /** The field that holds a row's id. */
  readonly idKey: string & keyof Row;
  /** Only rows that have this text, in any case, in one of their texts; an asterisk stands for anything. */
  readonly query?: string | undefined;
  readonly textsOf?: (row: Row) => readonly (string | null | undefined)[];
  /** What of the text the platform is asked for, where it looks into each text by itself. */
  readonly told?: string | undefined;
  /** What rows have to have besides. */
  readonly having?: readonly Having<Row>[];
  /** When they have to be, where the platform cannot filter by it. */
  readonly within?: Within<Row> | undefined;
  /** What the platform is exact in. */
  readonly filters?: readonly Filter[];
  readonly order: Order<Row>;
  /** What else the body of this search takes. */
  readonly more?: object;
}

/** One page of a list. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  /** The paging fields of the response. */
  readonly paging: Paging;
}

/** The most rows that are read for one page; a list that has more says so. */
const MAX_ROWS = 10_000;
/** The fewest rows that are read at once. */
const MIN_PIECE = 50;
/** How often a list is read in the hope of the rows that the platform's pages left out. */
const MAX_READINGS = 4;
/** The most that a token holds of a row's key, in characters. */
const MAX_KEY = 60;

/**
 * Reads one page of a list inside a tenant. The next page begins after the last
 * row of this one, whatever was written in between: of what did not change
 * nothing comes twice and nothing is left out.
 *
 * @throws ConnectError invalid_argument for a page token of another query.
 */
export async function listPage<Row extends object>(
  platform: Platform,
  tenant: TenantScope,
  list: List<Row>,
  request: PageRequest,
): Promise<Page<Row>> {
  const place = placeOf(request, [platform.caller.id, tenant.id, list]);
  const read = await readRows(platform, tenant, list, place);
  const begin = startOf(list, read.rows, place);
  const rows = read.rows.slice(begin, begin + place.size);
  const isLast = read.rows.length <= begin + place.size;
  const last = rows.at(-1);
  return {
    rows,
    paging: pagingOf(place, {
      totalSize: read.totalSize,
      isLowerBound: read.isCut,
      rowCount: rows.length,
      isLast,
      cursor: last === undefined ? undefined : cursorOf(list, last),
    }),
  };
}

interface Read<Row> {
  /** In the order of the list, up to where it is known. */
  readonly rows: readonly Row[];
  readonly totalSize: number;
  /** There are more than are read. */
  readonly isCut: boolean;
}

/** Reads from the beginning until the page at a place, and whether there is one after it, is known. */
async function readRows<Row extends object>(
  platform: Platform,
  tenant: TenantScope,
  list: List<Row>,
  place: Place,
): Promise<Read<Row>> {
  const { route, idKey, order, filters, having = [], within, more } = list;
  const pieces = piecesOf(list.query ?? "");
  if (list.whole !== undefined) {
    const rows = ordered(list, await list.whole()).filter(matcherOf(list));
    return { rows, totalSize: rows.length, isCut: false };
  }
  const isOurs = within !== undefined || order.isOurs === true;
  const isExact = pieces.length === 0 && having.length === 0 && !isOurs;
  const needed = place.offset + place.size + 1;
  // As much again, since rows may have come in front of them, and others may be equal.
  const first = Math.min(list.piece, isExact ? Math.max(MIN_PIECE, 2 * needed) : list.piece);
  // It knows no asterisks: the longest piece leaves the fewest rows to look through.
  const asked = list.told ?? pieces.toSorted((a, b) => b.length - a.length)[0];
  const told = asked !== undefined && isAscii(asked) ? asked : undefined;
  const search = { route, idKey, query: told, filters, sorts: order.sorts, more };
  const found = new Map<unknown, Row>();
  for (let reading = 0; ; reading++) {
    // Where pages ended between equal rows, other pages end elsewhere.
    const piece = first - Math.floor((first * reading) / 7);
    for (let page = 0; ; page++) {
      const { rows, totalSize } = await searchOnce<Row>(platform, tenant, search, page, piece);
      for (const row of rows) found.set(row[idKey], row);
      const count = (page + 1) * piece;
      const isWhole = count >= totalSize;
      if (isWhole && found.size < totalSize && page > 0 && reading + 1 < MAX_READINGS) break;
      const isCut = !isWhole && count >= MAX_ROWS;
      if (isWhole || isCut) {
        const matching = ordered(list, [...found.values()]).filter(matcherOf(list));
        return { rows: matching, totalSize: matching.length, isCut };
      }
      // A row that came twice came in place of another.
      if (!isExact || reading > 0 || found.size < count) continue;
      const settled = settledOf(list, [...found.values()], rows.at(-1));
      if (startOf(list, settled, place) + place.size < settled.length) {
        return { rows: settled, totalSize, isCut: false };
      }
    }
  }
}

/** The rows in their order, less those that may have others between them that have not been read. */
function settledOf<Row extends object>(list: List<Row>, rows: readonly Row[], last: Row | undefined): readonly Row[] {
  const { keyOf } = list.order;
  const sorted = ordered(list, rows);
  if (keyOf === undefined || last === undefined) return sorted;
  const open = keyOf(last);
  return sorted.filter((row) => keyOf(row) !== open);
}

/** Says of a row whether it is in the list. */
function matcherOf<Row extends object>({ query = "", textsOf, having = [], within }: List<Row>): (row: Row) => boolean {
  const pieces = piecesOf(query.toLowerCase());
  return (row) => {
    if (pieces.length > 0 && textsOf?.(row).some((text) => holdsAll(text ?? "", pieces)) !== true) return false;
    if (within !== undefined) {
      const at = Date.parse(within.of(row) ?? "");
      if (!(at > within.after && at < within.before)) return false;
    }
    return having.every(({ of, values }) => {
      const held = [of(row) ?? []].flat().map((one) => one.toLowerCase());
      return values.some((value) => held.includes(value.toLowerCase()));
    });
  };
}

/** Where a row stands: its key, and its id among those of one key. */
interface Stand {
  readonly key: string | undefined;
  readonly id: string;
}

function ordered<Row extends object>(list: List<Row>, rows: readonly Row[]): readonly Row[] {
  if (list.order.keyOf === undefined) return rows;
  const stands = rows.map((row) => ({ row, stand: standOf(list, row) }));
  return stands.sort((a, b) => compare(list, a.stand, b.stand)).map(({ row }) => row);
}

function standOf<Row extends object>({ idKey, order }: List<Row>, row: Row): Stand {
  return { key: order.keyOf?.(row), id: String(row[idKey]) };
}

function compare<Row>({ order }: List<Row>, a: Stand, b: Stand): number {
  if (a.key === b.key) return a.id < b.id ? -1 : a.id === b.id ? 0 : 1;
  if (a.key === undefined || b.key === undefined) return a.key === undefined ? 1 : -1;
  return a.key < b.key === (order.sorts[0].direction === "asc") ? -1 : 1;
}

/** What a token remembers of the last row of a page. */
function cursorOf<Row extends object>(list: List<Row>, row: Row): string {
  const { id, key } = standOf(list, row);
  return key === undefined ? id : `${id} ${cut(key)}`;
}

/** The beginning of a key, with no character halved: a token holds it as UTF-8. */
function cut(key: string): string {
  return [...key].slice(0, MAX_KEY).join("");
}

/** Where in its list a page begins: after the row that the page before ended with, or after where that stood. */
function startOf<Row extends object>(list: List<Row>, rows: readonly Row[], place: Place): number {
  if (place.cursor === undefined) return place.offset;
  const { cursor } = place;
  const at = rows.findIndex((row) => cursorOf(list, row) === cursor);
  if (at >= 0) return at + 1;
  if (list.order.keyOf === undefined) return Math.min(place.offset, rows.length);
  const [id = "", ...key] = cursor.split(" ");
  const ended: Stand = { id, key: key.length === 0 ? undefined : key.join(" ") };
  const after = rows.findIndex((row) => {
    const stand = standOf(list, row);
    return compare(list, { ...stand, key: stand.key && cut(stand.key) }, ended) > 0;
  });
  return after < 0 ? rows.length : after;
}

/** What rows have to have, where something is given. */
export function havingOne<Row>(of: Having<Row>["of"], values: readonly string[]): Having<Row>[] {
  return values.length === 0 ? [] : [{ of, values }];
}

/** When rows have to be, where something is given. */
export function withinOf<Row>(
  of: Within<Row>["of"],
  after: Timestamp | undefined,
  before: Timestamp | undefined,
): Within<Row> | undefined {
  if (after === undefined && before === undefined) return undefined;
  const ms = (time: Timestamp | undefined, open: number) => (time === undefined ? open : timestampMs(time));
  return { of, after: ms(after, Number.MIN_SAFE_INTEGER), before: ms(before, Number.MAX_SAFE_INTEGER) };
}

/** The key of an instant as the platform writes it: its fraction has as many digits as it needs. */
export function instantKey(at: string | null | undefined): string | undefined {
  const [, seconds, fraction = ""] = /^([^.Z]+)(?:\.(\d+))?Z$/.exec(at ?? "") ?? [];
  return seconds === undefined ? undefined : `${seconds}.${fraction.padEnd(9, "0")}`;
}

/** The key of a number from 0 on. */
export function numberKey(value: number | null | undefined): string {
  return String(value ?? 0).padStart(12, "0");
}

/** The key of a name: in any case. */
export function nameKey(name: string | null | undefined): string {
  return (name ?? "").toLowerCase();
}
