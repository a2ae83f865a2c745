/** The characters of a pattern that stand for others. */
export interface Wildcards {
  /** Stands for any text, the empty one too. */
  readonly any: string;
  /** Stands for any one character; left out where none does. */
  readonly one?: string;
}

/**
 * Whether a whole text matches a pattern with wildcards. Each part between two
 * wildcards is taken where it comes first, so that the time does not grow with
 * their number: an expression made of the pattern would try every way to
 * divide the text.
 */
export function matchesWildcards(text: string, pattern: string, { any, one }: Wildcards): boolean {
  const [first = "", ...parts] = pattern.split(any);
  const last = parts.pop();
  if (!isAt(text, first, 0, one)) return false;
  if (last === undefined) return text.length === first.length;
  let at = first.length;
  for (const part of parts) {
    const found = find(text, part, at, one);
    if (found === -1) return false;
    at = found + part.length;
  }
  const end = text.length - last.length;
  return end >= at && isAt(text, last, end, one);
}

/** Where a part comes first in a text, from a place on; -1 where it does not. */
function find(text: string, part: string, from: number, one: string | undefined): number {
  if (one === undefined || !part.includes(one)) return text.indexOf(part, from);
  for (let at = from; at + part.length <= text.length; at++) if (isAt(text, part, at, one)) return at;
  return -1;
}

function isAt(text: string, part: string, at: number, one: string | undefined): boolean {
  if (one === undefined || !part.includes(one)) return text.startsWith(part, at);
  if (at + part.length > text.length) return false;
  for (let i = 0; i < part.length; i++) if (part[i] !== one && part[i] !== text[at + i]) return false;
  return true;
}
