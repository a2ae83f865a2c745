import { shorten } from "../../../shared/tools/shorten.js";
import { type CoreNode, descriptionOf, rowOf } from "./knowledge.js";

// Rows of objects. Most platforms hold all of ATT&CK: a description there begins
// with a link to the object itself, and every object has the same marking, a
// notice of 130 characters.

/** How many characters of a description a row shows. */
export const ROW_DESCRIPTION = 80;

/** The longest marking that a row shows. */
const LONGEST_MARKING = 40;

/** An object as a row of a list. Use get_entity to see what it leaves out. */
export function objectRowOf(node: CoreNode, characters = ROW_DESCRIPTION) {
  const row = rowOf(node);
  return {
    ...row,
    description: beginningOf(descriptionOf(node), characters),
    markings: row.markings.filter((name) => name.length <= LONGEST_MARKING),
  };
}

/** How many characters of a description are read for a row. */
const ENOUGH = 4_000;

/** The beginning of a description on one line: links as their text, without tags of code and without citations. */
export function beginningOf(description: string, characters: number): string {
  const plain = description
    .slice(0, ENOUGH)
    .replace(/<\/?code>/g, "")
    // First: the patterns below would look through a run of spaces from each of them.
    .replace(/\s+/g, " ")
    .replace(/\[([^[\]]{1,200})\]\([^() ]{1,1000}\)/g, "$1")
    .replace(/ ?\(Citation: [^()]{1,200}\)/g, "")
    .trim();
  return shorten(plain, characters);
}
