import type { Base, DocCollection, Document, Filter, FindOptions } from "./store.js";

/**
 * How many of the documents that a caller can see one page looks at, at most,
 * for what no index tells.
 */
export const LOOKED_AT = 500;
/** How many it looks at first: most pages are full by then. */
const FIRST_LOOK = 20;
const GROWTH = 3;

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
  /** How many there are on all pages: told where the first page holds them all, because nothing else is counted. */
  readonly total: number | undefined;
}

/**
 * One page of a list, by where the page before ended. What it costs depends on
 * its size and, where something is demanded that no index tells, on
 * {@link LOOKED_AT}; never on how many documents there are. Such a page may be
 * short, or empty, and have a next one: the search stopped after {@link LOOKED_AT}.
 */
export async function listPage<T extends Base>(
  collection: DocCollection<T>,
  listing: Listing<T>,
): Promise<ListPage<T>> {
  const { wanted, size, after } = listing;
  const { found, end } =
    wanted === undefined
      ? { found: await foundIn(collection, listing, rangeOf(listing), size + 1), end: undefined }
      : await lookedFor(collection, listing, wanted);
  const items = found.slice(0, size);
  const next = found.length > size ? (items.at(-1)?.[listing.order] as string) : end;
  return { items, end: next, total: after === undefined && next === undefined ? items.length : undefined };
}

/** Looks at more and more until the page is full, there is no more, or enough was looked at. */
async function lookedFor<T extends Base>(
  collection: DocCollection<T>,
  listing: Listing<T>,
  wanted: Filter<T>,
): Promise<{ readonly found: readonly T[]; readonly end: string | undefined }> {
  const { direction, size } = listing;
  const found: T[] = [];
  let { after } = listing;
  for (let [look, left] = [FIRST_LOOK, LOOKED_AT]; left > 0; ) {
    const range = rangeOf({ ...listing, after });
    const edge = await edgeOf(collection, listing, range, look);
    const upTo = edge === undefined ? range : { ...range, [direction === 1 ? "$lte" : "$gte"]: edge };
    found.push(...(await foundIn(collection, listing, upTo, size + 1 - found.length, wanted)));
    if (found.length > size || edge === undefined) return { found, end: undefined };
    after = edge;
    left -= look;
    look = Math.min(look * GROWTH, left);
  }
  return { found, end: after };
}

type Range = Readonly<Partial<Record<"$gt" | "$gte" | "$lt" | "$lte", string>>>;

function rangeOf<T extends Base>({ from, to, after, direction }: Listing<T>): Range {
  const begin = direction === 1 && after !== undefined ? { $gt: after } : from !== undefined && { $gte: from };
  const end = direction === -1 && after !== undefined ? after : to;
  return { ...begin, ...(end !== undefined && { $lt: end }) };
}

function foundIn<T extends Base>(
  collection: DocCollection<T>,
  listing: Listing<T>,
  range: Range,
  limit: number,
  wanted?: Filter<T>,
): Promise<T[]> {
  const seen = seenIn(listing, range);
  const filter = wanted === undefined ? seen : ({ $and: [seen, wanted] } as Filter<T>);
  return collection.find(filter, { ...optionsOf(listing, listing.projection), limit }).toArray();
}

/** The order of the last of the next `look` documents; undefined if no document follows it. */
async function edgeOf<T extends Base>(
  collection: DocCollection<T>,
  listing: Listing<T>,
  range: Range,
  look: number,
): Promise<string | undefined> {
  const options = { ...optionsOf(listing, { [listing.order]: 1 }), skip: look - 1, limit: 2 };
  const [last, next] = await collection.find(seenIn(listing, range), options).toArray();
  return next === undefined ? undefined : (last?.[listing.order] as string);
}

function optionsOf<T extends Base>(
  { order, direction, index }: Listing<T>,
  projection: Document | undefined,
): FindOptions {
  return { sort: { [order]: direction }, hint: index, ...(projection && { projection }) };
}

function seenIn<T extends Base>({ seen, order }: Listing<T>, range: Range): Filter<T> {
  return Object.keys(range).length === 0 ? seen : { ...seen, [order]: range };
}
