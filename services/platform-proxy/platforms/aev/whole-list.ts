import { type PageRequest, type Paging, pagingOf, placeOf } from "../../lib/pages.js";

/** How the rows of a list stand that the platform gives whole. */
export interface Standing<Row> {
  readonly idOf: (row: Row) => string;
  /** What a row stands by, as text whose order is the list's; rows of one key stand in the order of their ids. */
  readonly keyOf: (row: Row) => string;
}

/**
 * One page of a list that the platform gives whole. It begins after the row
 * that the page before ended with, so that rows written in between move nothing.
 *
 * @param query everything that decides what the list holds.
 * @throws ConnectError invalid_argument for a page token of another query.
 */
export function pageOfWhole<Row>(
  rows: readonly Row[],
  { idOf, keyOf }: Standing<Row>,
  request: PageRequest,
  query: unknown,
): { readonly rows: readonly Row[]; readonly paging: Paging } {
  const place = placeOf(request, query);
  const stand = (row: Row): string => `${keyOf(row)} ${idOf(row)}`;
  const sorted = [...rows].sort((a, b) => (stand(a) < stand(b) ? -1 : 1));
  const { cursor } = place;
  const at = cursor === undefined ? 0 : sorted.findIndex((row) => stand(row) > cursor);
  const begin = at < 0 ? sorted.length : at;
  const page = sorted.slice(begin, begin + place.size);
  const last = page.at(-1);
  return {
    rows: page,
    paging: pagingOf(place, {
      totalSize: sorted.length,
      rowCount: page.length,
      isLast: begin + page.length >= sorted.length,
      cursor: last === undefined ? undefined : stand(last),
    }),
  };
}
