import { invalidArgument } from "../../../shared/rpc/errors.js";
import type { Query } from "../../lib/http.js";
import { inTurns } from "../../lib/in-turns.js";
import type { Place } from "../../lib/pages.js";
import type { Platform } from "../../platform.js";
import { type InFolder, type Rows, readAllOfTenant, readTenantPage } from "./lists.js";
import { justAfter, wholeMicros } from "./moments.js";
import { makeSure, type Tenant } from "./tenancy.js";

// Lists by the time of creation, newest or oldest first, put together of as many
// lists of the platform as it takes. A page begins after the last row of the
// page before, by that row's time and id, and not after a number of rows: so
// nothing comes twice, and nothing is left out, while others create and delete.

/** A row that says when it was made. */
export interface Dated extends InFolder {
  readonly id: string;
  /** As the platform writes it, 2026-11-21T12:17:44.580955Z. */
  readonly created_at: string;
}

/** Which way a list by time goes. */
export type Direction = "newest" | "oldest";

interface Key {
  readonly at: string;
  readonly id: string;
}

const CURSOR = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z),([0-9a-f-]{36})$/;

/**
 * Reads the page at a place of the list that queries make together.
 *
 * @throws ConnectError invalid_argument for a place that is none of such a list.
 */
export async function readByTime<T extends Dated>(
  platform: Platform,
  path: string,
  queries: readonly Query[],
  direction: Direction,
  place: Place,
  tenant: Tenant,
): Promise<Rows<T>> {
  const after = keyOf(place.cursor);
  const strands = queries.map((query) => new Strand<T>(platform, path, query, direction, after, tenant));
  // A list of its own is read at once; of several, first what each begins with.
  await inTurns(strands, (strand) => strand.fill(strands.length === 1 ? place.size : 1));
  const rows: T[] = [];
  while (rows.length < place.size) {
    const next = firstOf(strands, direction);
    if (next === undefined) break;
    rows.push(next.take());
    if (next.isDry) await next.fill(place.size - rows.length);
  }
  const left = strands.reduce((sum, strand) => sum + strand.total, 0);
  if (left === 0) await makeSure(platform, tenant);
  const last = rows.at(-1);
  return {
    rows,
    totalSize: place.offset + left,
    cursor: last === undefined || rows.length >= left ? undefined : `${last.created_at},${last.id}`,
  };
}

/** The rows of a list that was read whole, by time: the page at a place. */
export function pageByTime<T extends Dated>(all: readonly T[], direction: Direction, place: Place): Rows<T> {
  const after = keyOf(place.cursor);
  const left = all
    .filter((row) => after === undefined || compare(keyOfRow(row), after, direction) > 0)
    .sort((a, b) => compare(keyOfRow(a), keyOfRow(b), direction));
  const rows = left.slice(0, place.size);
  const last = rows.at(-1);
  return {
    rows,
    totalSize: place.offset + left.length,
    cursor: last === undefined || rows.length >= left.length ? undefined : `${last.created_at},${last.id}`,
  };
}

/** Reads the page at a place of a tenant's list, newest first, of one that knows no filter by time: whole. */
export async function readWholeByTime<T extends Dated>(
  platform: Platform,
  path: string,
  query: Query,
  place: Place,
  tenant: Tenant,
): Promise<Rows<T>> {
  const all = await readAllOfTenant<T>(platform, path, query, tenant);
  if (all.length === 0) await makeSure(platform, tenant);
  return pageByTime(all, "newest", place);
}

/** One of the lists that are put together, from a key on. */
class Strand<T extends Dated> {
  /** How many there are from the key on; known once it was filled. */
  total = 0;
  private readonly rows: T[] = [];
  private offset = 0;
  private dropped = 0;
  private isAtEnd = false;

  constructor(
    private readonly platform: Platform,
    private readonly path: string,
    private readonly query: Query,
    private readonly direction: Direction,
    private readonly after: Key | undefined,
    private readonly tenant: Tenant,
  ) {}

  get head(): T | undefined {
    return this.rows[0];
  }

  get isDry(): boolean {
    return this.rows.length === 0 && !this.isAtEnd;
  }

  take(): T {
    return this.rows.shift() as T;
  }

  /** Reads on until it holds so many rows, or there are no more. */
  async fill(size: number): Promise<void> {
    const { platform, path, tenant, direction, after } = this;
    const ordering = direction === "newest" ? "-created_at,id" : "created_at,id";
    const query = { ...this.query, ...(after && boundOf(after, direction)), ordering };
    while (this.rows.length < size && !this.isAtEnd) {
      // With a key, the row that it is of comes first.
      const part = {
        size: size - this.rows.length + (after !== undefined && this.offset === 0 ? 1 : 0),
        offset: this.offset,
      };
      const page = await readTenantPage<T>(platform, path, query, part, tenant);
      for (const row of page.rows) {
        if (after === undefined || compare(keyOfRow(row), after, direction) > 0) this.rows.push(row);
        else this.dropped++;
      }
      this.offset += page.rows.length;
      this.total = page.totalSize - this.dropped;
      this.isAtEnd = page.rows.length === 0 || this.offset >= page.totalSize;
    }
  }
}

function firstOf<T extends Dated>(strands: readonly Strand<T>[], direction: Direction): Strand<T> | undefined {
  let first: Strand<T> | undefined;
  for (const strand of strands) {
    if (strand.head === undefined) continue;
    const isBefore = first?.head === undefined || compare(keyOfRow(strand.head), keyOfRow(first.head), direction) < 0;
    if (isBefore) first = strand;
  }
  return first;
}

function keyOf(cursor: string | undefined): Key | undefined {
  if (cursor === undefined) return undefined;
  const [, at, id] = CURSOR.exec(cursor) ?? [];
  if (at === undefined || id === undefined)
    throw invalidArgument("page_token: is not valid; leave it out for the first page");
  return { at: wholeMicros(at), id };
}

const keyOfRow = ({ created_at, id }: Dated): Key => ({ at: wholeMicros(created_at), id });

/** Below 0 where `a` comes first; ids break ties, upwards either way. */
function compare(a: Key, b: Key, direction: Direction): number {
  if (a.at !== b.at) return a.at < b.at === (direction === "oldest") ? -1 : 1;
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

/** The filter that begins with a key's moment. */
function boundOf({ at }: Key, direction: Direction): Query {
  return direction === "oldest" ? { created_at__gte: at } : { created_at__lt: justAfter(at) };
}
