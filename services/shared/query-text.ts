import { invalidArgument } from "./rpc/errors.js";

// What people and models write into a search: spaces at its ends mean nothing,
// and an asterisk stands for anything.

/** Each is looked for in each text. */
const MAX_PIECES = 10;

/**
 * The pieces of a query that a text must hold; none for what finds everything.
 *
 * @throws ConnectError invalid_argument for too many of them.
 */
export function piecesOf(query: string): string[] {
  const pieces = query.split("*").map((piece) => piece.trim());
  const some = [...new Set(pieces)].filter((piece) => piece !== "");
  if (some.length > MAX_PIECES) {
    throw invalidArgument(`query: has more than ${MAX_PIECES} texts between asterisks; leave some out`);
  }
  return some;
}

/** Whether a text holds what a query asks for, in any case. @throws ConnectError as {@link piecesOf} does. */
export const holds = (text: string, query: string): boolean => holdsAll(text, piecesOf(query.toLowerCase()));

/** Whether a text holds all pieces, which are in lower case. */
export function holdsAll(text: string, pieces: readonly string[]): boolean {
  const lower = text.toLowerCase();
  return pieces.every((piece) => lower.includes(piece));
}
