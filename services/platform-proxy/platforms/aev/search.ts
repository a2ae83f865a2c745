import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { invalidArgument } from "../../../shared/rpc/errors.js";
import { countOf, rowsOf } from "../../lib/answers.js";
import { type PageRequest, type Paging, pagingOf, placeOf } from "../../lib/pages.js";
import { instantOf } from "../../lib/time.js";
import type { Platform } from "../../platform.js";
import type { TenantScope } from "./tenant.js";

/** A condition on one field; several values are alternatives. */
export interface Filter {
  readonly key: string;
  readonly operator: "eq" | "contains" | "gt" | "lt";
  readonly values: readonly string[];
}

/** An order by one field. */
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
  /** The field that holds a row's id. */
  readonly idKey: string;
  readonly query?: string | undefined;
  readonly filters?: readonly Filter[];
  readonly sorts: readonly [Sort, ...Sort[]];
}

/** One page of a search. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  /** The paging fields of the response. */
  readonly paging: Paging;
}

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
  request: PageRequest,
): Promise<Page<Row>> {
  // The platform numbers its pages, so that a token is good for one size alone.
  const place = placeOf(request, [platform.caller.id, tenant.id, search, request.pageSize]);
  const { rows, totalSize } = await searchOnce<Row>(platform, tenant, search, place.offset / place.size, place.size);
  return { rows, paging: pagingOf(place, { totalSize }) };
}

/** Reads the rows of a search one page of a thousand after the other, up to `limit` rows. */
export async function* searchAll<Row>(
  platform: Platform,
  tenant: TenantScope,
  search: Search,
  limit: number,
): AsyncGenerator<Row, void> {
  for (let page = 0; page * MAX_SIZE < limit; page++) {
    const { rows, totalSize } = await searchOnce<Row>(platform, tenant, search, page, MAX_SIZE);
    yield* rows;
    if ((page + 1) * MAX_SIZE >= totalSize) return;
  }
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

interface Envelope {
  readonly content?: unknown;
  readonly totalElements?: unknown;
}

async function searchOnce<Row>(
  platform: Platform,
  tenant: TenantScope,
  { route, idKey, query, filters = [], sorts }: Search,
  page: number,
  size: number,
): Promise<{ readonly rows: readonly Row[]; readonly totalSize: number }> {
  // The platform takes % for any text and offers no way to escape it.
  if (query?.includes("%")) throw invalidArgument("query: % stands for any text on the platform; leave it out");
  const reply = await platform.rest<Envelope | undefined>({
    verb: "POST",
    path: tenant.path(route),
    read: true,
    body: {
      page,
      size,
      ...(query !== undefined && { textSearch: query }),
      sorts,
      filterGroup: { mode: "and", filters: filters.map((filter, i) => ({ id: String(i), mode: "or", ...filter })) },
    },
  });
  return {
    rows: rowsOf<Row>(platform.server, reply?.content, idKey),
    totalSize: countOf(platform.server, reply?.totalElements),
  };
}
