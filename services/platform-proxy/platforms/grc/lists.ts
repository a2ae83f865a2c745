import { Code, ConnectError } from "@connectrpc/connect";
import { resourceExhausted, unavailable } from "../../../shared/rpc/errors.js";
import { countOf, rowsOf } from "../../lib/answers.js";
import type { Query } from "../../lib/http.js";
import { type PageRequest, type Place, placeOf } from "../../lib/pages.js";
import type { Platform } from "../../platform.js";
import { DoubtfulError, type Tenant } from "./tenancy.js";
import type { Related } from "./upstream.js";

const DEFAULT_SIZE = 25;
/** What may differ from page to page; the tenant is added as it was resolved. */
const NOT_QUERIED = ["pageSize", "pageToken", "tenantId", "$unknown"];

/**
 * Reads which page a request asks for.
 *
 * @param tenantId goes into the digest, so that a token is good for one tenant.
 * @throws ConnectError invalid_argument for a token that is not of this query.
 */
export function pageOf(
  request: PageRequest & { readonly $typeName: string },
  tenantId = "",
  size = DEFAULT_SIZE,
): Place {
  // A message keeps its fields in the order in which the client sent them.
  const query = Object.entries(request)
    .filter(([name]) => !NOT_QUERIED.includes(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return placeOf(request, [query, tenantId], size);
}

/** The rows of one page, and how many there are on all pages. */
export interface Rows<T> {
  readonly rows: readonly T[];
  readonly totalSize: number;
  /** How far the next page lies from where this one was to begin; the size of a page where left out. */
  readonly rowCount?: number;
  /** Whether this is the last page, where the counts do not tell. */
  readonly isLast?: boolean;
  /** Where the next page begins, of lists that are paged by it; undefined on the last. */
  readonly cursor?: string | undefined;
}

/** Which rows of a list. */
export type Part = Pick<Place, "size" | "offset">;

/** Reads one page of a list of the platform; the limit and the order are always said. */
export async function readPage<T>(platform: Platform, path: string, query: Query, part: Part): Promise<Rows<T>> {
  const { size: limit, offset } = part;
  const answer = await platform.rest<Listing | undefined>({
    verb: "GET",
    path,
    query: { ordering: "created_at,id", ...query, limit, offset },
  });
  return {
    rows: rowsOf<T>(platform.server, answer?.results, "id"),
    totalSize: countOf(platform.server, answer?.count),
  };
}

/** A list row that lies in a domain, which the platform calls a folder. */
export interface InFolder {
  readonly folder: Related;
}

/**
 * Reads one page of a list that is to hold one tenant's objects only.
 *
 * @throws DoubtfulError unavailable, where the platform did not keep to the tenant:
 * it ignores filters that it does not know; not_found for a domain that is no more.
 */
export async function readTenantPage<T extends InFolder>(
  platform: Platform,
  path: string,
  query: Query,
  part: Part,
  tenant: Tenant,
): Promise<Rows<T>> {
  const page = await readPage<T>(platform, path, query, part).catch((error: unknown) => {
    // Its filters refuse the id of what was deleted, and the whole list with it.
    throw error instanceof ConnectError && error.code === Code.NotFound ? new DoubtfulError(error) : error;
  });
  const isOutside = ({ folder }: T) => folder?.id === undefined || !tenant.domains.has(folder.id);
  if (page.rows.some(isOutside)) {
    throw new DoubtfulError(
      unavailable(
        "CISO Assistant answered with objects of another tenant, so the answer was discarded; tell an administrator",
      ),
    );
  }
  return page;
}

/** More ids do not fit the longest request line that servers commonly take, 4 KB. */
const IDS_AT_ONCE = 50;

/** A filter by ids in as many queries as their number takes: a list, put together of those. */
export function queriesOf(query: Query, name: string, ids: readonly string[]): Query[] {
  return chunksOf(ids).map((some) => ({ ...query, [name]: some }));
}

/** Ids in lists that fit a request line. */
export function chunksOf(ids: readonly string[]): string[][] {
  const chunks: string[][] = [];
  for (let i = 0; i < ids.length; i += IDS_AT_ONCE) chunks.push(ids.slice(i, i + IDS_AT_ONCE));
  return chunks;
}

const ALL_A_PAGE = 250;
const MAX_ALL = 2_000;

/**
 * Reads everything of a tenant that queries find, page after page, each row once.
 *
 * @throws ConnectError resource_exhausted, rather than leave something out.
 */
export async function readAll<T extends InFolder & { readonly id: string }>(
  platform: Platform,
  path: string,
  queries: readonly Query[],
  tenant: Tenant,
): Promise<T[]> {
  const all = new Map<string, T>();
  for (const query of queries) {
    for (let offset = 0; ; ) {
      const page = await readTenantPage<T>(platform, path, query, { size: ALL_A_PAGE, offset }, tenant);
      if (all.size + page.totalSize - offset > MAX_ALL) {
        throw resourceExhausted(
          `this needs ${all.size + page.totalSize - offset} objects of CISO Assistant, but one call reads at most ${MAX_ALL}; ask for less`,
        );
      }
      for (const row of page.rows) all.set(row.id, row);
      offset += page.rows.length;
      if (page.rows.length === 0 || offset >= page.totalSize) break;
    }
  }
  return [...all.values()];
}

/** Reads everything of a kind that lies in a tenant. */
export function readAllOfTenant<T extends InFolder & { readonly id: string }>(
  platform: Platform,
  path: string,
  query: Query,
  tenant: Tenant,
): Promise<T[]> {
  return readAll<T>(platform, path, queriesOf(query, "folder", [...tenant.domains.keys()]), tenant);
}

interface Listing {
  readonly count?: unknown;
  readonly results?: unknown;
}
