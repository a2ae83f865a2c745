/** Messages inside messages, as in the library. */
export const MAX_DEPTH = 100;

/** @throws Error in a message that is too deep in others. */
export function checkDepth(depth: number): void {
  if (depth <= 0) throw new Error("cannot decode message: maximum recursion depth reached");
}

/** Bytes that are left to the library, which keeps what it does not know. */
export class UnknownField extends Error {}

/** It is thrown again and again: nobody looks where it came from. */
export const UNKNOWN = new UnknownField();
