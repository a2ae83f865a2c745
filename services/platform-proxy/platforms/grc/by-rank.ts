import { invalidArgument } from "../../../shared/rpc/errors.js";
import type { Query } from "../../lib/http.js";
import type { Place } from "../../lib/pages.js";
import type { Platform } from "../../platform.js";
import type { Dated } from "./by-time.js";
import { type Rows, readAll, readPage, readTenantPage } from "./lists.js";
import { justAfter, wholeMicros } from "./moments.js";
import { makeSure, type Tenant } from "./tenancy.js";

/** An order by something other than the time of creation. */
export interface Rank<T> {
  /** As the platform is asked for it; by ids where rows are equal. */
  readonly ordering: string;
  /** What it goes by, where lists are put together here. */
  readonly of: (row: T) => string;
  readonly isDescending?: boolean;
}

const MOMENT = /^[0-9T:.Z-]{20,27}$/;

/**
 * Reads the page at a place of the list that queries make together, in an order
 * of the platform. All pages hold what was there at the first: what is created
 * meanwhile would move the others, and comes with the next first page.
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
  if (place.cursor !== undefined && !MOMENT.test(place.cursor)) {
    throw invalidArgument("page_token: is not valid; leave it out for the first page");
  }
  const until = place.cursor ?? (await newestOf(platform, path, queries));
  if (until === undefined) {
    await makeSure(platform, tenant);
    return { rows: [], totalSize: 0 };
  }
  // The newest itself is among them, so that the bound is the moment after it.
  const bounded = queries.map((query) => ({ ...query, ordering: rank.ordering, created_at__lt: justAfter(until) }));
  const page =
    bounded.length === 1
      ? await readTenantPage<T>(platform, path, bounded[0]!, place, tenant)
      : sorted(await readAll<T>(platform, path, bounded, tenant), rank, place);
  const isLast = page.rows.length === 0 || place.offset + page.rows.length >= page.totalSize;
  return { ...page, cursor: isLast ? undefined : until };
}

function sorted<T extends Dated>(all: T[], { of, isDescending = false }: Rank<T>, { offset, size }: Place): Rows<T> {
  const sign = isDescending ? -1 : 1;
  all.sort((a, b) => (of(a) === of(b) ? (a.id < b.id ? -1 : 1) : of(a) < of(b) ? -sign : sign));
  return { rows: all.slice(offset, offset + size), totalSize: all.length };
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
