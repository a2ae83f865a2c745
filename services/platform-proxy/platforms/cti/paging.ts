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
}

/** Where a page begins, bound to its query: the platform would take a cursor of any other and answer with a wrong page. */
export interface Place {
  readonly first: number;
  readonly after: string | null;
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
    next: (page) => (page === null ? { totalSize: 0 } : pagingOf(place, page)),
  };
}

/** The platform announces a page after one that happens to be full. */
function pagingOf(place: pages.Place, { edges, pageInfo }: Page<unknown>): Paging {
  const { hasNextPage, endCursor, globalCount } = pageInfo;
  const cursor = hasNextPage && endCursor !== "" ? endCursor : undefined;
  return pages.pagingOf(place, { totalSize: globalCount, rowCount: edges?.length ?? 0, cursor });
}

/** The rows of a page. */
export const nodesOf = <Node>(page: Rows<Node> | null | undefined): Node[] =>
  (page?.edges ?? []).flatMap((edge) => (edge === null ? [] : [edge.node]));
