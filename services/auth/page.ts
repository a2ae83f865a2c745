import { invalidArgument } from "../shared/rpc/errors.js";
import type { Base, DocCollection, Filter } from "../shared/store/store.js";

/** Which page of a list. */
export interface PageRequest {
  /** 0 for the default. */
  readonly pageSize: number;
  readonly pageToken: string;
}

/** A page of a list. */
export interface Page<T> {
  readonly items: T[];
  /** "" on the last page. */
  readonly nextPageToken: string;
  /** How many there are on all pages, where the first page holds them all. */
  readonly totalSize?: number;
}

const DEFAULT_SIZE = 25;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * One page in the order of a UUIDv7 field: by where the page before ended, so
 * that records made or deleted meanwhile shift nothing.
 *
 * @throws ConnectError invalid_argument, for a page token that is not ours.
 */
export async function pageOf<T extends Base>(
  collection: DocCollection<T>,
  filter: Filter<T>,
  { pageSize, pageToken }: PageRequest,
  { field, direction }: { readonly field: keyof T & string; readonly direction: 1 | -1 },
): Promise<Page<T>> {
  if (pageToken !== "" && !UUID.test(pageToken)) {
    throw invalidArgument("page_token must be the next_page_token of the previous page; omit it to start");
  }
  const size = pageSize === 0 ? DEFAULT_SIZE : pageSize;
  const beyond = { [field]: direction === 1 ? { $gt: pageToken } : { $lt: pageToken } };
  const wanted = pageToken === "" ? filter : ({ $and: [filter, beyond] } as Filter<T>);
  const found = await collection
    .find(wanted)
    .sort({ [field]: direction })
    .limit(size + 1)
    .toArray();
  const items = found.slice(0, size);
  const nextPageToken = found.length > size ? String(items.at(-1)?.[field]) : "";
  return { items, nextPageToken, ...(pageToken === "" && nextPageToken === "" && { totalSize: items.length }) };
}
