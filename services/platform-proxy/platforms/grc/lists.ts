import { resourceExhausted, unavailable } from "../../../shared/rpc/errors.js";
import { countOf, rowsOf } from "../../lib/answers.js";
import type { Query } from "../../lib/http.js";
import { inTurns } from "../../lib/in-turns.js";
import { type PageRequest, type Place, placeOf } from "../../lib/pages.js";
import type { Platform } from "../../platform.js";
import type { Tenant } from "./tenancy.js";
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
  /** There are more than totalSize. */
  readonly isLowerBound?: boolean;
}

/** Which rows of a list. */
type Part = Pick<Place, "size" | "offset">;

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
 * @throws ConnectError unavailable, where the platform did not keep to the tenant:
 * it ignores filters that it does not know.
 */
export async function readTenantPage<T extends InFolder>(
  platform: Platform,
  path: string,
  query: Query,
  part: Part,
  tenant: Tenant,
): Promise<Rows<T>> {
  const page = await readPage<T>(platform, path, query, part);
  const isOutside = ({ folder }: T) => folder?.id === undefined || !tenant.domains.has(folder.id);
  if (page.rows.some(isOutside)) {
    throw unavailable("the grc platform answered with objects of another tenant; they are withheld");
  }
  return page;
}

/** More ids do not fit the longest request line that servers commonly take, 4 KB. */
const DOMAINS_AT_ONCE = 50;

/** Reads one page of a list of what lies in these domains of a tenant, in as many lists as their number takes. */
export async function readTenantPages<T extends InFolder>(
  platform: Platform,
  path: string,
  query: Query,
  domains: readonly string[],
  part: Part,
  tenant: Tenant,
): Promise<Rows<T>> {
  const values: string[][] = [];
  for (let i = 0; i < domains.length; i += DOMAINS_AT_ONCE) values.push(domains.slice(i, i + DOMAINS_AT_ONCE));
  return readConcatenated(platform, path, query, { name: "folder", values }, part, tenant);
}

/** A filter that takes one value at a time, with the values to take. */
interface OneByOne {
  readonly name: string;
  readonly values: readonly (string | readonly string[])[];
}

/** Lists are counted this many at a time, and further ones only until a page is full. */
const COUNTED_AT_ONCE = 60;

/**
 * Reads one page of the concatenation of several lists of one resource, for
 * filters that take only one value: the same query once a value. Lists that lie
 * far behind the page are not counted: the total is then a lower bound.
 */
export async function readConcatenated<T extends InFolder>(
  platform: Platform,
  path: string,
  query: Query,
  { name, values }: OneByOne,
  part: Part,
  tenant: Tenant,
): Promise<Rows<T>> {
  const read = (value: string | readonly string[], one: Part) =>
    readTenantPage<T>(platform, path, { ...query, [name]: value }, one, tenant);
  if (values.length === 0) return { rows: [], totalSize: 0 };
  if (values.length === 1) return read(values[0]!, part);
  const end = part.offset + part.size;
  const parts: (Part & { value: string | readonly string[] })[] = [];
  let before = 0;
  let counted = 0;
  while (counted < values.length && (counted === 0 || before < end)) {
    const some = values.slice(counted, counted + COUNTED_AT_ONCE);
    const counts = await inTurns(some, async (value) => (await read(value, { size: 1, offset: 0 })).totalSize);
    some.forEach((value, i) => {
      const from = Math.max(part.offset - before, 0);
      const to = Math.min(end - before, counts[i]!);
      if (to > from) parts.push({ value, size: to - from, offset: from });
      before += counts[i]!;
    });
    counted += some.length;
  }
  const pages = await inTurns(parts, ({ value, ...one }) => read(value, one));
  const isLowerBound = counted < values.length;
  return { rows: pages.flatMap(({ rows }) => rows), totalSize: before, ...(isLowerBound && { isLowerBound }) };
}

const ALL_A_PAGE = 250;
const MAX_ALL = 2_000;

/**
 * Reads everything of a tenant that a query finds, page after page.
 *
 * @throws ConnectError resource_exhausted, rather than leave something out.
 */
export async function readAllTenantPages<T extends InFolder>(
  platform: Platform,
  path: string,
  query: Query,
  tenant: Tenant,
): Promise<T[]> {
  const domains = [...tenant.domains.keys()];
  const all: T[] = [];
  for (;;) {
    const part = { size: ALL_A_PAGE, offset: all.length };
    const page = await readTenantPages<T>(platform, path, query, domains, part, tenant);
    const { rows, totalSize, isLowerBound = false } = page;
    if (totalSize > MAX_ALL) {
      throw resourceExhausted(
        `this takes ${totalSize} objects of the grc platform, and ${MAX_ALL} at most; ask for less`,
      );
    }
    all.push(...rows);
    if (rows.length === 0 || (all.length >= totalSize && !isLowerBound)) return all;
  }
}

interface Listing {
  readonly count?: unknown;
  readonly results?: unknown;
}
