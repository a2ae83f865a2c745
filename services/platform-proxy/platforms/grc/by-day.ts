import { invalidArgument } from "../../../shared/rpc/errors.js";
import type { Place } from "../../lib/pages.js";
import type { Dated } from "./by-time.js";
import type { Rows } from "./lists.js";

const CURSOR = /^(\d{4}-\d\d-\d\d),([0-9a-f-]{36})$/;

/**
 * The page at a place of a list that was read whole, by a day, the earliest
 * first. A page begins after the last row of the page before, by that row's day
 * and id.
 *
 * @throws ConnectError invalid_argument for a page token of another list.
 */
export function pageByDay<T extends Dated>(all: readonly T[], dayOf: (row: T) => string, place: Place): Rows<T> {
  if (place.cursor !== undefined && !CURSOR.test(place.cursor)) {
    throw invalidArgument("page_token: is not valid; leave it out for the first page");
  }
  const keyOf = (row: T) => `${dayOf(row)},${row.id}`;
  const left = all
    .map((row) => ({ row, key: keyOf(row) }))
    .filter(({ key }) => place.cursor === undefined || key > place.cursor)
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  const page = left.slice(0, place.size);
  return {
    rows: page.map(({ row }) => row),
    totalSize: place.offset + left.length,
    cursor: page.length >= left.length ? undefined : page.at(-1)?.key,
  };
}
