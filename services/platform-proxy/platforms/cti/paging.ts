import type { PageRequest, Paging } from "../../lib/pages.js";
import * as pages from "../../lib/pages.js";

/** The paging of a platform's answer. */
export interface PageInfo {
  readonly endCursor: string;
  readonly hasNextPage: boolean;
  readonly globalCount: number;
}

/** One page as the platform answers it. */
export interface Connection<Node> {
  readonly edges: readonly { readonly node: Node }[] | null;
  readonly pageInfo: PageInfo;
}

export const PAGE = `pageInfo { endCursor hasNextPage globalCount }`;

/** Where a page begins, bound to its query: the platform would take a cursor of any other and answer with a wrong page. */
export interface Place {
  readonly first: number;
  readonly after: string | null;
  /** The token of the page that follows an answer; "" on the last. */
  next(page: Connection<unknown>): string;
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
    next: (page) => pagingOf(place, page).nextPageToken ?? "",
  };
}

/** The paging fields of the response that holds a page. The platform announces a page after one that happens to be full. */
export function pagingOf(place: pages.Place, { edges, pageInfo }: Connection<unknown>): Paging {
  const { hasNextPage, endCursor, globalCount } = pageInfo;
  const cursor = hasNextPage && endCursor !== "" ? endCursor : undefined;
  return pages.pagingOf(place, { totalSize: globalCount, rowCount: edges?.length ?? 0, cursor });
}

/** The rows of a page. */
export const nodesOf = <Node>(page: Connection<Node> | null | undefined): Node[] =>
  (page?.edges ?? []).map(({ node }) => node);
