import type { Base, DocCollection, Document, Filter, Looked, Range, Way } from "./store.js";

/** How many documents the largest pages look at, at most, for what no index tells. */
export const LOOKED_AT = 500;

/** How many a page of a size looks at: what a page costs depends on how much it asks for. */
export function lookedAt(size: number): number {
  return Math.min(LOOKED_AT, 40 + 20 * size);
}

/** Which documents are listed, and which page of them. */
export interface Listing<T extends Base> {
  /** Equalities on the first fields of the index: it gives these documents in order. */
  readonly seen: Filter<T>;
  /** What else is demanded, which another index tells that ends with `order`: it is looked for along each of them. */
  readonly ways?: readonly Way<T>[];
  /** What else is demanded, which no index tells: looked for among {@link lookedAt} documents a page. */
  readonly wanted?: Filter<T> | undefined;
  /** The name of the index, which ends with `order`. */
  readonly index: string;
  /** A text that no two of the documents have alike. */
  readonly order: keyof T & string;
  readonly direction: 1 | -1;
  /** The part of the order that is listed: its least value, and the first that is past it. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** Where the page before ended; undefined for the first. */
  readonly after?: string | undefined;
  readonly size: number;
  readonly projection?: Document;
}

/** A page of a list. */
export interface ListPage<T> {
  readonly items: readonly T[];
  /** Where it ended; undefined where there is no next page. */
  readonly end: string | undefined;
  /** How many there are on all pages: told where the first page holds them all, because nothing else is counted. */
  readonly total: number | undefined;
}

/**
 * One page of a list, by where the page before ended. What it costs depends on
 * its size and, where something more is demanded, on {@link lookedAt}; never
 * on how many documents there are. Such a page may be short, or empty, and have
 * a next one: the search stopped there.
 */
export async function listPage<T extends Base>(
  collection: DocCollection<T>,
  listing: Listing<T>,
): Promise<ListPage<T>> {
  const { size, after } = listing;
  const { found, end } =
    listing.wanted === undefined && (listing.ways ?? []).length === 0
      ? { found: await foundIn(collection, listing, rangeOf(listing), size + 1), end: undefined }
      : await lookedFor(collection, listing);
  const items = found.slice(0, size);
  const next = found.length > size ? (items.at(-1)?.[listing.order] as string) : end;
  return { items, end: next, total: after === undefined && next === undefined ? items.length : undefined };
}

async function lookedFor<T extends Base>(collection: DocCollection<T>, listing: Listing<T>): Promise<Looked<T>> {
  const { seen, index, ways = [], wanted = {}, order, direction, size, projection } = listing;
  const range = rangeOf(listing);
  const { found, end } = await collection.look({
    ways: [{ index, by: seen }, ...ways],
    ...{ wanted, order, direction, range, limit: size + 1, most: lookedAt(size), projection },
  });
  if (end === undefined || ways.length === 0) return { found, end };
  // Along another index it may have ended at what is not seen, and a page token is read by who is given it.
  const before = direction === 1 ? { ...range, $lte: end } : { ...range, $gte: end };
  const back = { ...listing, direction: -direction as 1 | -1, projection: { [order]: 1 } };
  const [last] = await foundIn(collection, back, before, 1);
  return { found, end: last === undefined ? end : (last[order] as string) };
}

function rangeOf<T extends Base>({ from, to, after, direction }: Listing<T>): Range {
  const begin = direction === 1 && after !== undefined ? { $gt: after } : from !== undefined && { $gte: from };
  const end = direction === -1 && after !== undefined ? after : to;
  return { ...begin, ...(end !== undefined && { $lt: end }) };
}

function foundIn<T extends Base>(
  collection: DocCollection<T>,
  { seen, index, order, direction, projection }: Listing<T>,
  range: Range,
  limit: number,
): Promise<T[]> {
  const filter = Object.keys(range).length === 0 ? seen : { ...seen, [order]: range };
  const options = { sort: { [order]: direction }, hint: index, limit };
  return collection.find(filter, { ...options, ...(projection && { projection }) }).toArray();
}
