import { createHash } from "node:crypto";
import { invalidArgument } from "../../shared/rpc/errors.js";
import { pageTokenOf, positionOf } from "../../shared/rpc/page-token.js";

// A platform numbers its pages or rows and would give those of any question, so
// a token holds a digest of its own question beside the number.

/** What tells a question from others: everything that decides what its pages hold, in a fixed order. */
export function digestOf(question: unknown): string {
  return createHash("sha256").update(JSON.stringify(question)).digest("base64url").slice(0, 16);
}

/** The token of the page or row with a number, at most 9,999,999, of the question with a digest. */
export function tokenOf(number: number, digest: string): string {
  return pageTokenOf(`${number}.${digest}`);
}

/**
 * The number that a token holds.
 *
 * @throws ConnectError invalid_argument for what is no token of this question.
 */
export function numberOf(token: string, digest: string): number {
  const [, number, of] = /^([0-9]{1,7})\.([\w-]+)$/.exec(positionOf(token) ?? "") ?? [];
  if (of !== digest) {
    throw invalidArgument(
      "page_token: does not belong to this query; repeat every other argument as it was, or leave it out for the first page",
    );
  }
  return Number(number);
}
