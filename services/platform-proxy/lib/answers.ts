import type { ConnectError } from "@connectrpc/connect";
import { unavailable } from "../../shared/rpc/errors.js";
import { leftOpen } from "./outcome.js";

// A platform of another version, or something in front of one, may answer in
// another shape. What would make a wrong answer of ours is refused here: a list
// that is none, a row without its id, a count that is not a number. Fields that may
// be left out are read where they are used.

/**
 * A list.
 *
 * @param server whose platform answered, for the sentence.
 * @throws ConnectError unavailable, where it is no list.
 */
export function listOf<Row>(server: string, value: unknown): readonly Row[] {
  if (!Array.isArray(value)) throw misshapen(server, "something that is not a list");
  return value as readonly Row[];
}

/**
 * A list of rows that have ids.
 *
 * @throws ConnectError unavailable, where it is no list or a row lacks its id.
 */
export function rowsOf<Row>(server: string, value: unknown, id: string): readonly Row[] {
  const rows = listOf<Row>(server, value);
  for (const row of rows) objectOf(server, row, id);
  return rows;
}

/**
 * An object that has an id.
 *
 * @throws ConnectError unavailable, where it has none.
 */
export function objectOf<T>(server: string, value: unknown, id: string): T {
  const given = (value as Readonly<Record<string, unknown>> | null | undefined)?.[id];
  if (typeof given !== "string" || given === "") throw misshapen(server, "an object without an id");
  return value as T;
}

/**
 * How many there are.
 *
 * @throws ConnectError unavailable, where it is no whole number from 0 on.
 */
export function countOf(server: string, value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw misshapen(server, "a count that is not a number");
  return value as number;
}

/**
 * The refusal of an answer of a wrong shape.
 *
 * @param what the answer held instead, in words.
 */
export function misshapen(server: string, what: string): ConnectError {
  return leftOpen(
    unavailable(
      `the ${server} platform answered with ${what}, so the answer was discarded; ask its administrator to check its version and address`,
    ),
  );
}

/** What the language throws where a value is another than it was taken for. */
export function isOfReading(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
}

/**
 * What an adapter asks and reads of a platform.
 *
 * @throws ConnectError that names the platform where the answer could not be read.
 */
export async function readOf<T>(server: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw isOfReading(error) ? unreadable(server, error) : error;
  }
}

/** The refusal of an answer that could not be read. @param error of {@link isOfReading}. */
export function unreadable(server: string, error: unknown): ConnectError {
  const said = misshapen(server, "something that cannot be read");
  said.cause = error;
  return said;
}
