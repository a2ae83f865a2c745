import { distance } from "fastest-levenshtein";

const FAR = 3;
/** Longest name that is compared, in characters. */
const MAX_LENGTH = 64;

/**
 * The name that was probably meant, or undefined where none is near: at most
 * two edits away, or a third of the shorter name.
 */
export function closestName(given: string, names: Iterable<string>): string | undefined {
  let best: string | undefined;
  let least = FAR;
  const wanted = plain(given);
  for (const name of names) {
    const bound = Math.min(least, Math.max(1, Math.round(Math.min(name.length, wanted.length) / 3)) + 1);
    const edits = editsBetween(wanted, plain(name), bound);
    if (edits < bound) {
      best = name;
      least = edits;
    }
  }
  return best;
}

function plain(name: string): string {
  return name
    .slice(0, MAX_LENGTH)
    .replaceAll(/[-_\s]/g, "")
    .toLowerCase();
}

/** The edit distance; two neighbours swapped are one edit, which Levenshtein's counts as two. */
function editsBetween(given: string, name: string, bound: number): number {
  if (Math.abs(given.length - name.length) >= bound) return bound;
  let edits = distance(given, name);
  for (let i = 1; i < given.length && edits > 1; i++) {
    const turned = given.slice(0, i - 1) + given[i] + given[i - 1] + given.slice(i + 1);
    edits = Math.min(edits, 1 + distance(turned, name));
  }
  return edits;
}
