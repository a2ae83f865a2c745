import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { invalidArgument } from "../../../shared/rpc/errors.js";
import { digestOf, numberOf, tokenOf } from "../../lib/page-token.js";
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
/** The most that the platform gives at once. */
const MAX_SIZE = 1_000;

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
  const digest = digestOf([platform.caller.id, tenant.id, search, pageSize]);
  const page = pageToken === undefined ? 0 : numberOf(pageToken, digest);
  const reply = await searchOnce<Row>(platform, tenant, search, page, pageSize);
  return {
    rows: reply.content,
    totalSize: reply.totalElements,
    nextPageToken: reply.last ? undefined : tokenOf(page + 1, digest),
  };
}

/** Reads the rows of a search one page of a thousand after the other, up to `limit` rows. */
export async function* searchAll<Row>(
  platform: Platform,
  tenant: TenantScope,
  search: Search,
  limit: number,
): AsyncGenerator<Row, void> {
  for (let page = 0; page * MAX_SIZE < limit; page++) {
    const reply = await searchOnce<Row>(platform, tenant, search, page, MAX_SIZE);
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
