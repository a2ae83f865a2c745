import type { KnowledgeFilter, Order } from "#proto/cti/v1/knowledge_pb.js";
import type { Paging } from "../../lib/pages.js";
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
