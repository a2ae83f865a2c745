import { createHash } from "node:crypto";
import { invalidArgument } from "../../shared/rpc/errors.js";
import { pageTokenOf, positionOf } from "../../shared/rpc/page-token.js";

// A platform numbers its pages or rows, or hands out cursors, and would give
// those of any query, so a token holds a digest of its own query beside them.

/** The paging arguments that every list takes. */
export interface PageRequest {
  readonly pageSize?: number | undefined;
  /** "" for the first page. */
  readonly pageToken: string;
}

/** The part of a list that is asked for. */
export interface Place {
  /** How many rows at most. */
  readonly size: number;
  /** How many rows lie before. */
  readonly offset: number;
  /** The cursor that the page before ended with, where the list is paged by cursors; undefined on the first page. */
  readonly cursor: string | undefined;
  /** Tells the query from others. */
  readonly digest: string;
}

/** What a platform tells of a list beside the rows of one page. */
export interface Listed {
  readonly totalSize: number;
  /** There are more than totalSize. */
  readonly isLowerBound?: boolean;
  /** How many rows the page holds, where pages need not be full. */
  readonly rowCount?: number;
  /** The cursor after the page, where the list is paged by cursors; undefined on the last page. */
  readonly cursor?: string | undefined;
  /** Whether this is the last page, where the counts do not tell. */
  readonly isLast?: boolean;
}

/** The paging fields of every list's response. */
export interface Paging {
  readonly nextPageToken?: string;
  readonly totalSize: number;
  readonly totalSizeIsLowerBound?: boolean;
}

const DEFAULT_SIZE = 20;
/** The digest in it tells which. */
const LIST = "a list of a platform";
const TOKEN = /^([0-9]{1,9})\.([\w-]+)(?:\.(.+))?$/s;

/**
 * Reads which page a request asks for.
 *
 * @param query everything that decides what the pages hold, in a fixed order.
 * @throws ConnectError invalid_argument for a token that is not of this query.
 */
export function placeOf({ pageSize, pageToken }: PageRequest, query: unknown, defaultSize = DEFAULT_SIZE): Place {
  const digest = digestOf(query);
  const size = pageSize ?? defaultSize;
  if (pageToken === "") return { size, offset: 0, cursor: undefined, digest };
  const [, offset, of, cursor] = TOKEN.exec(positionOf(pageToken, LIST) ?? "") ?? [];
  if (of !== digest) {
    throw invalidArgument(
      "page_token: does not belong to this query; repeat the other arguments of the call that returned it, or leave it out for the first page",
    );
  }
  return { size, offset: Number(offset), cursor, digest };
}

/** The paging fields of the response that holds the page at a place. */
export function pagingOf(place: Place, listed: Listed): Paging {
  const { totalSize, isLowerBound = false, rowCount = place.size } = listed;
  const next = place.offset + rowCount;
  const isCounted = next >= totalSize || ("cursor" in listed && listed.cursor === undefined);
  const isLast = listed.isLast ?? (isCounted && !isLowerBound);
  const cursor = listed.cursor === undefined ? "" : `.${listed.cursor}`;
  return {
    ...(!isLast && { nextPageToken: pageTokenOf(`${next}.${place.digest}${cursor}`, LIST) }),
    totalSize,
    ...(isLowerBound && { totalSizeIsLowerBound: true }),
  };
}

function digestOf(query: unknown): string {
  return createHash("sha256").update(JSON.stringify(query)).digest("base64url").slice(0, 16);
}
