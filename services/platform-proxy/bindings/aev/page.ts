import { createHash } from "node:crypto";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { invalidArgument } from "../../../shared/errors.js";
import type { Platform } from "../../platform.js";
import type { TenantScope } from "./tenant.js";

/** A condition on one field; several values are alternatives. */
export interface Filter {
  readonly key: string;
  readonly operator: "eq" | "contains" | "gt" | "lt";
  readonly values: readonly string[];
}

export interface Sort {
  readonly property: string;
  readonly direction: "asc" | "desc";
  /** Where rows without a value stand; first in a descending order where left out. */
  readonly nullHandling?: "NULLS_LAST";
}

/** A search as the platform takes it; without a sort its order would not be stable. */
export interface Search {
  /** The route inside the tenant, such as /scenarios/search. */
  readonly route: string;
  readonly text?: string | undefined;
  readonly filters?: readonly Filter[];
  readonly sorts: readonly [Sort, ...Sort[]];
}

/** The paging arguments that every search tool takes. */
export interface Paging {
  readonly pageSize?: number | undefined;
  readonly pageToken?: string | undefined;
}

export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly totalSize: number;
  readonly nextPageToken: string | undefined;
}

const DEFAULT_SIZE = 20;

/**
 * Reads one page of a search inside a tenant.
 *
 * @throws ConnectError invalid_argument for a page token of another query.
 */
export async function searchPage<Row>(
  platform: Platform,
  tenant: TenantScope,
  search: Search,
  { pageSize = DEFAULT_SIZE, pageToken }: Paging,
): Promise<Page<Row>> {
  const query = digestOf(platform, tenant, search, pageSize);
  const page = pageToken === undefined ? 0 : pageOf(pageToken, query);
  const reply = await searchOnce<Row>(platform, tenant, search, page, pageSize);
  return {
    rows: reply.content,
    totalSize: reply.totalElements,
    nextPageToken: reply.last ? undefined : tokenOf(page + 1, query),
  };
}

/** Reads the rows of a search one page of a hundred after the other, up to `limit` rows. */
export async function* searchAll<Row>(
  platform: Platform,
  tenant: TenantScope,
  search: Search,
  limit: number,
): AsyncGenerator<Row, void> {
  for (let page = 0; page * 100 < limit; page++) {
    const reply = await searchOnce<Row>(platform, tenant, search, page, 100);
    yield* reply.content;
    if (reply.last) return;
  }
}

/** The fields of a page that responses share, ready to spread into one. */
export function pageFields({ totalSize, nextPageToken }: Page<unknown>): {
  totalSize: number;
  nextPageToken?: string;
} {
  return { totalSize, ...(nextPageToken !== undefined && { nextPageToken }) };
}

/** A condition where something is given, none where not. */
export function oneOf(key: string, values: readonly string[], operator: "eq" | "contains" = "eq"): Filter[] {
  return values.length === 0 ? [] : [{ key, operator, values }];
}

/** Conditions on an instant; the platform takes full instants only. */
export function between(key: string, after: Timestamp | undefined, before: Timestamp | undefined): Filter[] {
  const at = (operator: "gt" | "lt", time: Timestamp): Filter => ({ key, operator, values: [instantOf(time)] });
  return [...(after === undefined ? [] : [at("gt", after)]), ...(before === undefined ? [] : [at("lt", before)])];
}

function instantOf(time: Timestamp): string {
  return timestampDate(time).toISOString();
}

interface Envelope<Row> {
  readonly content: readonly Row[];
  readonly totalElements: number;
  readonly last: boolean;
}

function searchOnce<Row>(
  platform: Platform,
  tenant: TenantScope,
  { route, text, filters = [], sorts }: Search,
  page: number,
  size: number,
): Promise<Envelope<Row>> {
  // The platform takes % for any text and offers no way to escape it.
  if (text?.includes("%")) throw invalidArgument("text: % stands for any text on the platform; leave it out");
  return platform.rest<Envelope<Row>>({
    verb: "POST",
    path: tenant.path(route),
    read: true,
    body: {
      page,
      size,
      ...(text !== undefined && { textSearch: text }),
      sorts,
      filterGroup: { mode: "and", filters: filters.map((filter, i) => ({ id: String(i), mode: "or", ...filter })) },
    },
  });
}

// A token holds the page's number and a digest of the query it belongs to, so
// that it cannot be used with another one by mistake.

function digestOf(platform: Platform, tenant: TenantScope, search: Search, size: number): string {
  const query = JSON.stringify([platform.caller.id, tenant.id, search, size]);
  return createHash("sha256").update(query).digest("base64url").slice(0, 16);
}

function tokenOf(page: number, query: string): string {
  return `${page.toString(36)}.${query}`;
}

function pageOf(token: string, query: string): number {
  const [number = "", digest] = token.split(".", 2);
  if (!/^[0-9a-z]{1,6}$/.test(number) || digest === undefined) {
    throw invalidArgument("page_token: this is no token of this tool; leave it out for the first page");
  }
  if (digest !== query) {
    throw invalidArgument(
      "page_token: belongs to a search with other arguments; repeat them all unchanged, or leave it out for the first page",
    );
  }
  return Number.parseInt(number, 36);
}
