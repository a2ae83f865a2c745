import { internal, resourceExhausted } from "../../../shared/rpc/errors.js";
import type { RestRequest } from "../../adapter.js";
import { digestOf, numberOf, tokenOf } from "../../lib/page-token.js";
import type { Platform } from "../../platform.js";
import type { Tenant } from "./tenancy.js";
import type { Listing, Related } from "./upstream.js";

/** Which part of a list is asked for. */
export interface Page {
  readonly limit: number;
  readonly offset: number;
  /** What the token of the next page must repeat: a digest of the question. */
  readonly digest: string;
}

interface Paged {
  readonly $typeName: string;
  readonly pageSize?: number | undefined;
  readonly pageToken?: string | undefined;
}

const DEFAULT_PAGE = 25;
/** What may differ from page to page; the tenant is added as it was resolved. */
const NOT_ASKED = ["pageSize", "pageToken", "tenantId", "$unknown"];

/**
 * Reads which page a request asks for.
 *
 * @param tenantId goes into the digest, so that a token is good for one tenant.
 * @throws ConnectError invalid_argument for a token that is not of this question.
 */
export function pageOf(request: Paged, tenantId = "", defaultSize = DEFAULT_PAGE): Page {
  const { pageSize, pageToken } = request;
  // A message keeps its fields in the order in which the client sent them.
  const question = Object.entries(request)
    .filter(([name]) => !NOT_ASKED.includes(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const digest = digestOf([question, tenantId]);
  return { limit: pageSize ?? defaultSize, offset: pageToken === undefined ? 0 : numberOf(pageToken, digest), digest };
}

/** The paging fields of a response. */
export function pagingOf(
  { limit, offset, digest }: Page,
  total: number,
): { totalSize: number; nextPageToken?: string } {
  const next = offset + limit;
  if (next >= total) return { totalSize: total };
  return { totalSize: total, nextPageToken: tokenOf(next, digest) };
}

type Query = NonNullable<RestRequest["query"]>;

/** Reads one page of a list of the platform; the limit and the order are always said. */
export async function readPage<T>(platform: Platform, path: string, query: Query, page: Page): Promise<Listing<T>> {
  const { limit, offset } = page;
  return platform.rest<Listing<T>>({
    verb: "GET",
    path,
    query: { ordering: "created_at,id", ...query, limit, offset },
  });
}

/** A list row that belongs to a domain. */
export interface Housed {
  readonly folder: Related;
}

/**
 * Reads one page of a list that is to hold one tenant's objects only.
 *
 * @throws ConnectError internal, where the platform did not keep to the tenant:
 * it ignores filters that it does not know.
 */
export async function readTenantPage<T extends Housed>(
  platform: Platform,
  path: string,
  query: Query,
  page: Page,
  tenant: Tenant,
): Promise<Listing<T>> {
  const listing = await readPage<T>(platform, path, query, page);
  const stranger = listing.results.some(({ folder }) => folder.id === undefined || !tenant.domains.has(folder.id));
  if (stranger) throw internal("the grc platform answered with objects of another tenant; they are withheld");
  return listing;
}

/** More ids do not fit the longest request line that servers commonly take, 4 KB. */
const DOMAINS_AT_ONCE = 50;

/** Reads one page of a list of what lies in these domains of a tenant, in as many lists as their number takes. */
export async function readTenantPages<T extends Housed>(
  platform: Platform,
  path: string,
  query: Query,
  domains: readonly string[],
  page: Page,
  tenant: Tenant,
): Promise<Listing<T>> {
  const values: string[][] = [];
  for (let i = 0; i < domains.length; i += DOMAINS_AT_ONCE) values.push(domains.slice(i, i + DOMAINS_AT_ONCE));
  return readConcatenated(platform, path, query, { name: "folder", values }, page, tenant);
}

/**
 * Reads one page of the concatenation of several lists of one resource, for
 * filters that take only one value: the same query once a value.
 */
export async function readConcatenated<T extends Housed>(
  platform: Platform,
  path: string,
  query: Query,
  { name, values }: { readonly name: string; readonly values: readonly (string | readonly string[])[] },
  page: Page,
  tenant: Tenant,
): Promise<Listing<T>> {
  const read = (value: string | readonly string[], limit: number, offset: number) =>
    readTenantPage<T>(platform, path, { ...query, [name]: value }, { ...page, limit, offset }, tenant);
  if (values.length === 0) return { count: 0, results: [] };
  if (values.length === 1) return read(values[0]!, page.limit, page.offset);
  const counts = await inTurns(values, async (value) => (await read(value, 1, 0)).count);
  const parts: { value: string | readonly string[]; limit: number; offset: number }[] = [];
  let before = 0;
  values.forEach((value, i) => {
    const from = Math.max(page.offset - before, 0);
    const to = Math.min(page.offset + page.limit - before, counts[i]!);
    if (to > from) parts.push({ value, limit: to - from, offset: from });
    before += counts[i]!;
  });
  const listings = await inTurns(parts, ({ value, limit, offset }) => read(value, limit, offset));
  return { count: before, results: listings.flatMap(({ results }) => results) };
}

const ALL_A_PAGE = 250;
const MAX_ALL = 2_000;

/**
 * Reads everything of a tenant that a query finds, page after page.
 *
 * @throws ConnectError resource_exhausted, rather than leave something out.
 */
export async function readAllTenantPages<T extends Housed>(
  platform: Platform,
  path: string,
  query: Query,
  tenant: Tenant,
): Promise<T[]> {
  const domains = [...tenant.domains.keys()];
  const all: T[] = [];
  for (;;) {
    const page = { limit: ALL_A_PAGE, offset: all.length, digest: "" };
    const { count, results } = await readTenantPages<T>(platform, path, query, domains, page, tenant);
    if (count > MAX_ALL) {
      throw resourceExhausted(`this takes ${count} objects of the grc platform, and ${MAX_ALL} at most; ask for less`);
    }
    all.push(...results);
    if (all.length >= count || results.length === 0) return all;
  }
}

const AT_ONCE = 6;

/** Runs a few at a time, in order, so that one call does not take the whole platform. */
export async function inTurns<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let i = 0; i < items.length; i += AT_ONCE) {
    results.push(...(await Promise.all(items.slice(i, i + AT_ONCE).map(run))));
  }
  return results;
}
