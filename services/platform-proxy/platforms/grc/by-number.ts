import { invalidArgument } from "../../../shared/rpc/errors.js";
import type { Place } from "../../lib/pages.js";
import type { Dated } from "./by-time.js";
import type { Rows } from "./lists.js";

const CURSOR = /^(-|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?),([0-9a-f-]{36})$/;

/**
 * The page at a place of a list that was read whole, by a number, the highest
 * first; rows without one come last. A page begins after the last row of the
 * page before, by that row's number and id.
 *
 * @throws ConnectError invalid_argument for a page token of another list.
 */
export function pageByNumber<T extends Dated>(
  all: readonly T[],
  numberOf: (row: T) => number | undefined,
  place: Place,
): Rows<T> {
  const keyed = all.map((row) => ({ row, number: numberOf(row), id: row.id }));
  const after = keyOf(place.cursor);
  const left = keyed.filter((one) => after === undefined || compare(one, after) > 0).sort(compare);
  const page = left.slice(0, place.size);
  const last = page.at(-1);
  return {
    rows: page.map(({ row }) => row),
    totalSize: place.offset + left.length,
    cursor: last === undefined || page.length >= left.length ? undefined : `${last.number ?? "-"},${last.id}`,
  };
}

interface Key {
  readonly number: number | undefined;
  readonly id: string;
}

function keyOf(cursor: string | undefined): Key | undefined {
  if (cursor === undefined) return undefined;
  const [, number, id] = CURSOR.exec(cursor) ?? [];
  if (number === undefined || id === undefined) {
    throw invalidArgument("page_token: is not valid; leave it out for the first page");
  }
  return { number: number === "-" ? undefined : Number(number), id };
}

/** Below 0 where `a` comes first; ids break ties. */
function compare(a: Key, b: Key): number {
  if (a.number !== b.number)
    return (b.number ?? Number.NEGATIVE_INFINITY) > (a.number ?? Number.NEGATIVE_INFINITY) ? 1 : -1;
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}
