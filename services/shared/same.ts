import { isDeepStrictEqual } from "node:util";

/** Whether two values are equal in all that they hold. What is the same value is not looked into: most fields of a change are. */
export function isSame(one: unknown, other: unknown): boolean {
  return Object.is(one, other) || isDeepStrictEqual(one, other);
}
