import { invalidArgument } from "./errors.js";

// A page token holds where the page before ended, in the words of the list's
// order. It grants nothing: every page passes the same gates as the first.

const MARK = "after:";

/** The token of the page that begins after a position. */
export function pageTokenOf(position: string): string {
  return Buffer.from(MARK + position).toString("base64url");
}

/**
 * The position that a token holds; undefined for "", the first page.
 *
 * @throws ConnectError invalid_argument for what is no token of ours.
 */
export function positionOf(token: string): string | undefined {
  if (token === "") return undefined;
  const text = Buffer.from(token, "base64url").toString();
  if (!text.startsWith(MARK)) throw invalidArgument("page_token is not from this list; omit it to start");
  return text.slice(MARK.length);
}
