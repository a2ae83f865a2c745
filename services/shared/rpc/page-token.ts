import { createHmac, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import { invalidArgument } from "./errors.js";

// A page token holds where the page before ended, in the words of the list's
// order. It grants nothing: every page passes the same gates as the first. Its
// tag says which deployment made it, because another one with the same people
// and lists would take its place in a list for one of its own.

/** In characters. Whoever guesses a tag gains nothing. */
const TAG_LENGTH = 8;
/** What tags are made with; processes that share no deployment share none. */
let key: string | Buffer = randomBytes(32);
/** Those made last, by position: the first page of a list, which is asked for most, often ends at the same one. */
const tokens = new LRUCache<string, string>({ max: 1_000 });

/** Has the processes of a deployment take each other's page tokens. @param secret what only they share. */
export function bindPageTokens(secret: string): void {
  key = secret;
  tokens.clear();
}

/** The token of the page that begins after a position. */
export function pageTokenOf(position: string): string {
  let token = tokens.get(position);
  if (token === undefined) {
    token = tokenOf(position);
    tokens.set(position, token);
  }
  return token;
}

/**
 * The position that a token holds; undefined for "", the first page.
 *
 * @throws ConnectError invalid_argument for what is no token of ours.
 */
export function positionOf(token: string): string | undefined {
  if (token === "") return undefined;
  const position = Buffer.from(token.slice(TAG_LENGTH), "base64url").toString();
  if (token !== tokenOf(position)) throw invalidArgument("page_token is not from this list; omit it to start");
  return position;
}

function tokenOf(position: string): string {
  const tag = createHmac("sha256", key).update("page token\0").update(position).digest("base64url");
  return tag.slice(0, TAG_LENGTH) + Buffer.from(position).toString("base64url");
}
