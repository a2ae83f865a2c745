// What JSON text costs to read is not its length alone: depth ends in a full
// stack wherever it is walked, and four megabytes can be a million lists.

/** Deepest JSON that is read. */
export const MAX_JSON_DEPTH = 64;
/** The most objects, lists, members and items together, in the body of a request. */
export const MAX_JSON_ELEMENTS = 100_000;
/** Shorter texts cannot be much, in characters, and are not looked at. */
const LOOKED_AT = 2_048;

const BACKSLASH = 92;

/**
 * Looks at JSON text before it is parsed; whether it is JSON at all is the
 * parser's to say.
 *
 * @param most how many objects, lists, members and items together it may hold.
 * @returns what it has too much of, in words that follow what it is, such as "the body"; undefined where all is well.
 */
export function excessOf(json: string, most = MAX_JSON_ELEMENTS): string | undefined {
  const { length } = json;
  if (length < LOOKED_AT) return undefined;
  let depth = 0;
  let elements = 0;
  for (let i = 0; i < length; i++) {
    switch (json.charCodeAt(i)) {
      case 34: // a quotation mark
        i = endOfString(json, i);
        break;
      case 91: // an opening bracket or brace
      case 123:
        depth += 1;
        if (depth > MAX_JSON_DEPTH) return `is nested deeper than ${MAX_JSON_DEPTH} levels`;
        elements += 1;
        break;
      case 93:
      case 125:
        depth -= 1;
        break;
      case 44: // a comma
        elements += 1;
        if (elements > most) return `holds more than ${most} values`;
    }
  }
  return undefined;
}

/** Where the string that begins at `start` ends; the end of the text where it does not. */
function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let slashes = 0;
    while (json.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return json.length;
}
