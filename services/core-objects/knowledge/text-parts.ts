/** Characters of a part of a long text: some milliseconds of a loop that serves others, and less than a record holds. */
export const PART = 2 ** 19;

/** A text in parts: cut after a blank line, else after a line, else between two characters. */
export function partsOf(text: string, most = PART): string[] {
  const parts: string[] = [];
  let from = 0;
  while (text.length - from > most) {
    const to = endOf(text, from, from + most);
    parts.push(text.slice(from, to));
    from = to;
  }
  if (from < text.length) parts.push(text.slice(from));
  return parts;
}

function endOf(text: string, from: number, most: number): number {
  const half = from + (most - from) / 2;
  for (const boundary of ["\n\n", "\n", " "]) {
    const at = text.lastIndexOf(boundary, most - boundary.length) + boundary.length;
    if (at > half) return at;
  }
  // Not between the halves of a character.
  return /[\ud800-\udbff]/.test(text[most - 1] as string) ? most - 1 : most;
}
