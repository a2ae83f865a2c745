import { invalidArgument } from "../../shared/rpc/errors.js";
import { quotedAll } from "../../shared/rpc/quoted.js";

/** How many are named that are there. */
const NAMED = 30;

/**
 * Checks that an object has what is to be removed: a tool that is misspelled would stay in an agent's hands, and the
 * answer would look as if it were gone.
 *
 * @param noun of the object.
 * @param what a word for one of them.
 * @param hint where to read what they are, if the names alone do not say it.
 * @throws ConnectError invalid_argument that names what it has.
 */
export function checkHeld(
  noun: string,
  what: string,
  removed: readonly string[],
  held: readonly string[],
  hint?: string,
): void {
  const missing = removed.filter((one) => !held.includes(one));
  if (missing.length === 0) return;
  const more = held.length > NAMED ? ` and ${held.length - NAMED} more` : "";
  const named = held.length === 0 ? "none" : `${held.slice(0, NAMED).join(", ")}${more}`;
  throw invalidArgument(
    `the ${noun} has no ${what} ${quotedAll(missing)} to remove; it has ${named}${hint === undefined ? "" : `; ${hint}`}`,
  );
}
