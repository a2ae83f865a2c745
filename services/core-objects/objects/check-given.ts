import { invalidArgument } from "../../shared/rpc/errors.js";
import { quotedAll } from "../../shared/rpc/quoted.js";

// What no rule of a message says about what is given.

/** Members that are of no use if nothing can be read in them. */
const READ = ["name", "input", "instructions", "template", "labels", "addLabels", "models", "addModels"].map(
  (member) => ({ member, argument: argumentOf(member) }),
);

/**
 * Checks what creates or changes an object.
 *
 * @throws ConnectError invalid_argument for a text of white space alone, and for what is both added and removed.
 */
export function checkGiven(request: object): void {
  const given = request as Readonly<Record<string, unknown>>;
  for (const { member, argument } of READ) checkNotBlank(argument, given[member]);
  for (const member of Object.keys(given)) {
    const added = given[member];
    // Most lists are empty.
    if (!Array.isArray(added) || added.length === 0) continue;
    const opposite = member === "share" ? "unshare" : member.replace(/^add(?=[A-Z])/, "remove");
    const removed = given[opposite];
    if (opposite === member || !Array.isArray(removed)) continue;
    const both = added.map((one) => one.to ?? one).filter((one) => removed.includes(one));
    if (both.length > 0)
      throw invalidArgument(
        `${argumentOf(member)} and ${argumentOf(opposite)} both have ${quotedAll(both)}: keep it in one of them`,
      );
  }
}

/** @throws ConnectError invalid_argument for a text of white space alone, or a list with one; "" is for others to judge. */
export function checkNotBlank(argument: string, given: unknown): void {
  if (Array.isArray(given)) for (const [i, one] of given.entries()) checkNotBlank(`${argument}[${i}]`, one);
  if (typeof given === "string" && given !== "" && !VISIBLE.test(given))
    throw invalidArgument(`${argument}: must not be blank`);
}

/** Neither white space, nor a control or format character. */
const VISIBLE = /[^\p{Z}\p{C}]/u;

function argumentOf(member: string): string {
  return member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
