import type { KnowledgeFilter, Order } from "#proto/cti/v1/knowledge_pb.js";
import { type PageRequest, type Paging, pagingOf, placeOf } from "../../lib/pages.js";
import type { Platform } from "../../platform.js";
import { filtersOf } from "./filters.js";
import type { Page } from "./paging.js";
import type { Filter } from "./resolve.js";
import { type PageVariables, type SearchRequest, searchPage, selectionOf } from "./search.js";

/** What a list of one kind of objects takes. */
export interface ListRequest extends SearchRequest {
  readonly filter?: KnowledgeFilter | undefined;
  readonly order: Order;
}

/**
 * Reads one page of a list of one kind of objects: what its query and its
 * filters select, in an order that stays.
 *
 * @param kind everything else that decides what the pages hold.
 * @param own the list's own conditions.
 * @throws ConnectError where a name in the filter is unknown.
 */
export async function listPage<Node extends { readonly id: string }>(
  platform: Platform,
  request: ListRequest,
  kind: unknown,
  own: readonly Filter[],
  read: (variables: PageVariables) => Promise<Page<Node> | null>,
): Promise<{ readonly nodes: readonly Node[]; readonly paging: Paging }> {
  const selection = selectionOf(request.query, await filtersOf(platform, request.filter, ...own));
  return searchPage(request, kind, selection, read);
}

/**
 * One page of a list that was read whole, in the order of its keys. The next
 * one begins after the key of the last row, whatever was written in between.
 *
 * @param query everything that decides what the pages hold.
 * @param keyOf tells a row from every other, and orders them.
 */
export function pageOfAll<Row>(
  request: PageRequest,
  query: unknown,
  all: readonly Row[],
  keyOf: (row: Row) => string,
): { readonly rows: readonly Row[]; readonly paging: Paging } {
  const place = placeOf(request, query);
  const keyed = all.map((row) => ({ row, key: keyOf(row) })).sort((a, b) => (a.key < b.key ? -1 : 1));
  const rest = keyed.filter(({ key }) => place.cursor === undefined || key > place.cursor);
  const taken = rest.slice(0, place.size);
  const isLast = taken.length === rest.length;
  const paging = pagingOf(place, {
    totalSize: all.length,
    rowCount: taken.length,
    isLast,
    ...(!isLast && { cursor: taken.at(-1)?.key }),
  });
  return { rows: taken.map(({ row }) => row), paging };
}
