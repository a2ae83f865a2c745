import type { Base, DocCollection, Document, Filter, FindOptions } from "./store.js";

/**
 * As many of the documents that a caller can see as one list looks at: up to
 * it a list counts exactly, and finds what no index tells.
 */
export const LOOKED_AT = 2_000;

/** Which documents are listed, and which page of them. */
export interface Listing<T extends Base> {
  /** Equalities on the first fields of the index: it gives these documents in order. */
  readonly seen: Filter<T>;
  /** What else is demanded, which no index tells: looked for among {@link LOOKED_AT} of those seen, page by page. */
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
  /** How many there are on all pages. */
  readonly total: number;
  /** There may be more than `total`. */
  readonly totalIsLowerBound: boolean;
}

/**
 * One page of a list, by where the page before ended. What it costs depends on
 * its size and on {@link LOOKED_AT}, not on how many documents there are. Where
 * something is demanded that no index tells, a page may be short, or empty, and
 * have a next one: so many were looked at.
 */
export async function listPage<T extends Base>(
  collection: DocCollection<T>,
  listing: Listing<T>,
): Promise<ListPage<T>> {
  const { wanted, index, size, projection, after } = listing;
  const [all, rest] = [rangeOf({ ...listing, after: undefined }), rangeOf(listing)];
  const isFirst = after === undefined;
  const edge = wanted === undefined ? undefined : await edgeOf(collection, listing, rest);
  const firstEdge = wanted === undefined || isFirst ? edge : await edgeOf(collection, listing, all);
  const options: FindOptions = {
    sort: sortOf(listing),
    limit: size + 1,
    hint: index,
    ...(projection && { projection }),
  };
  const [found, count] = await Promise.all([
    collection.find(filterOf(listing, rest, edge), options).toArray(),
    collection.countDocuments(filterOf(listing, all, firstEdge), { limit: LOOKED_AT + 1, hint: index }),
  ]);
  const items = found.slice(0, size);
  return {
    items,
    end: found.length > size ? (items.at(-1)?.[listing.order] as string) : edge,
    total: Math.min(count, LOOKED_AT),
    totalIsLowerBound: count > LOOKED_AT || firstEdge !== undefined,
  };
}

type Range = Readonly<Partial<Record<"$gt" | "$gte" | "$lt", string>>>;

function rangeOf<T extends Base>({ from, to, after, direction }: Listing<T>): Range {
  const begin = direction === 1 && after !== undefined ? { $gt: after } : from !== undefined && { $gte: from };
  const end = direction === -1 && after !== undefined ? after : to;
  return { ...begin, ...(end !== undefined && { $lt: end }) };
}

function sortOf<T extends Base>({ order, direction }: Listing<T>): Record<string, 1 | -1> {
  return { [order]: direction };
}

/** The last that is looked at; undefined where nothing is past it. */
async function edgeOf<T extends Base>(
  collection: DocCollection<T>,
  listing: Listing<T>,
  range: Range,
): Promise<string | undefined> {
  const projection = { [listing.order]: 1 };
  const [last, next] = await collection
    .find(seenIn(listing, range), {
      sort: sortOf(listing),
      skip: LOOKED_AT - 1,
      limit: 2,
      hint: listing.index,
      projection,
    })
    .toArray();
  return next === undefined ? undefined : (last?.[listing.order] as string);
}

function filterOf<T extends Base>(listing: Listing<T>, range: Range, edge: string | undefined): Filter<T> {
  const { wanted, direction } = listing;
  if (wanted === undefined) return seenIn(listing, range);
  const upTo = edge === undefined ? range : { ...range, [direction === 1 ? "$lte" : "$gte"]: edge };
  return { $and: [seenIn(listing, upTo), wanted] } as Filter<T>;
}

function seenIn<T extends Base>({ seen, order }: Listing<T>, range: object): Filter<T> {
  return Object.keys(range).length === 0 ? seen : { ...seen, [order]: range };
}
