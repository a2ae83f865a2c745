import type { PageRequest, Paging } from "../../lib/pages.js";
import * as pages from "../../lib/pages.js";
import { fragment, type NodeOf } from "./graphql.js";

/** The fields of a page. */
export const PAGE = fragment(`
  fragment Page on PageInfo {
    endCursor
    hasNextPage
    globalCount
  }
`);

/** Rows as the platform wraps them. */
export interface Rows<Node> {
  readonly edges: readonly ({ readonly node: Node } | null)[] | null;
}

/** One page as the platform answers it. */
export interface Page<Node> extends Rows<Node> {
  readonly pageInfo: NodeOf<typeof PAGE>;
  /** There may be more than globalCount. */
  readonly isLowerBound?: boolean;
}

/** Where a page begins, bound to its query: the platform would take a cursor of any other and answer with a wrong page. */
export interface Place {
  readonly first: number;
  readonly after: string | null;
  /** How many rows lie before. */
  readonly offset: number;
  /** The paging fields of the response that holds a page; of no page where the platform gives none. */
  next(page: Page<unknown> | null): Paging;
}

/**
 * Reads a page token.
 *
 * @param query everything that decides what the pages hold.
 * @throws ConnectError invalid_argument, where the token is of another query.
 */
export function placeOf(request: PageRequest, query: unknown): Place {
  const place = pages.placeOf(request, query);
  return {
    first: place.size,
    after: place.cursor ?? null,
    offset: place.offset,
    next: (page) => (page === null ? { totalSize: 0 } : pagingOf(place, page)),
  };
}

function pagingOf(place: pages.Place, page: Page<unknown>): Paging {
  const { edges, pageInfo } = page;
  const cursor = cursorAfter(page);
  return pages.pagingOf(place, {
    totalSize: pageInfo.globalCount,
    isLowerBound: page.isLowerBound === true && cursor !== undefined,
    rowCount: edges?.length ?? 0,
    cursor,
  });
}

/** The cursor of what follows a page; undefined on the last. The platform announces a page after one that happens to be full. */
export function cursorAfter({ pageInfo: { hasNextPage, endCursor } }: Page<unknown>): string | undefined {
  return hasNextPage && endCursor !== "" ? (endCursor ?? undefined) : undefined;
}

/** The rows of a page. */
export const nodesOf = <Node>(page: Rows<Node> | null | undefined): Node[] =>
  (page?.edges ?? []).flatMap((edge) => (edge === null ? [] : [edge.node]));
