import { createHmac, randomBytes } from "node:crypto";
import type { ConnectError } from "@connectrpc/connect";
import { LRUCache } from "lru-cache";
import { invalidArgument } from "./errors.js";

// A page token holds where the page before ended, in the words of the list's
// order. It grants nothing: every page passes the same gates as the first. Its
// tag says which deployment made it, and of which list: a place in one list is
// also a place in another, where it would leave out rows without a word.

/** In characters. Whoever guesses a tag gains nothing. */
const TAG_LENGTH = 8;
/** What tags are made with; processes that share no deployment share none. */
let key: string | Buffer = randomBytes(32);
/** Those made last, by list and position: the first page of a list, which is asked for most, often ends at the same one. */
const tokens = new LRUCache<string, string>({
  max: 1_000,
  // In characters: the arguments of a list may be long.
  maxSize: 500_000,
  maxEntrySize: 2_000,
  sizeCalculation: (token, known) => token.length + known.length,
});

/** Has the processes of a deployment take each other's page tokens. @param secret what only they share. */
export function bindPageTokens(secret: string): void {
  key = secret;
  tokens.clear();
}

/** A request of a list: its type and the arguments that choose its rows tell it from others. */
export interface PagedRequest {
  readonly $typeName: string;
}

/** Members of requests that do not choose rows. */
const PAGING: ReadonlySet<string> = new Set(["pageSize", "pageToken", "$unknown"]);

/** The token of the page that begins after a position. @param of the request of the list, or its name. */
export function pageTokenOf(position: string, of: PagedRequest | string): string {
  const list = listOf(of);
  const known = `${list}\0${position}`;
  let token = tokens.get(known);
  if (token === undefined) {
    token = tokenOf(position, list);
    tokens.set(known, token);
  }
  return token;
}

/**
 * The position that a token holds; undefined for "", the first page.
 *
 * @param of the request of the list, or its name.
 * @throws ConnectError invalid_argument for what is no token of ours, or is one of another list.
 */
export function positionOf(token: string, of: PagedRequest | string): string | undefined {
  if (token === "") return undefined;
  const position = Buffer.from(token.slice(TAG_LENGTH), "base64url").toString();
  if (token !== tokenOf(position, listOf(of))) throw foreignPageToken();
  return position;
}

/** What is said of a token of another list. */
export function foreignPageToken(): ConnectError {
  return invalidArgument(
    "page_token is not from this list: repeat the other arguments of the call that returned it, or omit it for the first page",
  );
}

/** In the order of names: members come in the order in which their writer gave them. */
function listOf(request: PagedRequest | string): string {
  if (typeof request === "string") return request;
  const chosen = Object.entries(request).filter(([name, value]) => value !== undefined && !PAGING.has(name));
  const sorted = chosen.sort(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([request.$typeName, sorted], (_, value) => (typeof value === "bigint" ? `${value}` : value));
}

function tokenOf(position: string, list: string): string {
  const tag = createHmac("sha256", key).update("page token\0").update(list).update("\0").update(position);
  return tag.digest("base64url").slice(0, TAG_LENGTH) + Buffer.from(position).toString("base64url");
}
