const FAR = 3;

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
    const edits = distance(wanted, plain(name), bound);
    if (edits < bound) {
      best = name;
      least = edits;
    }
  }
  return best;
}

function plain(name: string): string {
  return name
    .slice(0, 64)
    .replaceAll(/[-_\s]/g, "")
    .toLowerCase();
}

/** The edit distance of two names, two neighbours swapped being one edit (optimal string alignment), or `bound` where it is not below that. */
function distance(a: string, b: string, bound: number): number {
  if (Math.abs(a.length - b.length) >= bound) return bound;
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const turned = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const turn = turned ? (before[j - 2] as number) + 1 : bound;
      next.push(Math.min(swap, turn, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    before = row;
    row = next;
  }
  return Math.min(bound, row[b.length] as number);
}
