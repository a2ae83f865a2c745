// What JSON text costs to read is not its length alone: depth ends in a full
// stack wherever it is walked, and four megabytes can be a million lists.

/** Deepest JSON that is read. */
export const MAX_JSON_DEPTH = 64;
/** The most objects, lists, members and items together, in the body of a request. */
export const MAX_JSON_ELEMENTS = 100_000;
/** Shorter texts cannot be much, in bytes, and need not be looked at. */
export const LOOKED_AT = 2_048;

/** Of what there is too much. */
export type Excess = "too deep" | "too many";

/** Looks at JSON text as it comes, before it is parsed; whether it is JSON at all is the parser's to say. */
export class JsonShape {
  #depth = 0;
  #elements = 0;
  #inString = false;
  /** The last piece ended with a backslash. */
  #isEscaped = false;

  /** @param most how many objects, lists, members and items together it may hold. */
  constructor(private readonly most = MAX_JSON_ELEMENTS) {}

  /** Looks at the next bytes of the text in UTF-8; says of what there is too much by now, undefined where all is well. */
  push(piece: Uint8Array): Excess | undefined {
    const { length } = piece;
    let [depth, elements, inString] = [this.#depth, this.#elements, this.#inString];
    let i = this.#isEscaped ? 1 : 0;
    while (i < length) {
      if (inString) {
        i = inText(piece, i);
        if (piece[i] === BACKSLASH) i += 2;
        else if (i < length) {
          i++;
          inString = false;
        }
        continue;
      }
      const byte = piece[i++] as number;
      if (IS_PLAIN[byte] === 1) continue;
      if (byte === QUOTE) inString = true;
      else if (byte === COMMA) {
        elements += 1;
        if (elements > this.most) return "too many";
      } else if ((byte | BRACE) === OPENING) {
        depth += 1;
        if (depth > MAX_JSON_DEPTH) return "too deep";
        elements += 1;
      } else depth -= 1;
    }
    this.#isEscaped = length === 0 ? this.#isEscaped : i > length;
    [this.#depth, this.#elements, this.#inString] = [depth, elements, inString];
    return undefined;
  }
}

const QUOTE = 34;
const BACKSLASH = 92;
const COMMA = 44;
/** The bit that a brace has and a bracket has not; with it, both are the brace. */
const BRACE = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;
/** 1 for each byte that, outside of strings, neither begins nor ends anything. */
const IS_PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number(byte !== QUOTE && byte !== COMMA && (byte | BRACE) !== OPENING && (byte | BRACE) !== CLOSING),
);
/**
 * So much of a string is read byte by byte before its end is searched for: a search costs as much as
 * some sixty bytes, and a string may be full of quotes after backslashes.
 */
const WALKED = 256;

/** From a place in a string: where its next quote is, or a backslash before that which may count, or the piece's end. */
function inText(piece: Uint8Array, from: number): number {
  const near = Math.min(piece.length, from + WALKED);
  let at = from;
  while (at < near && piece[at] !== QUOTE && piece[at] !== BACKSLASH) at++;
  // The byte before is no backslash, so that none before this place counts.
  return at === near && at < piece.length ? toBackslashes(piece, at) : at;
}

/** From a place in a string: where its next quote is, or the backslashes right before that, or the piece's end. */
function toBackslashes(piece: Uint8Array, from: number): number {
  // That of a Buffer is many times as fast as that of other bytes.
  const quote = Buffer.prototype.indexOf.call(piece, QUOTE, from);
  let at = quote === -1 ? piece.length : quote;
  while (at > from && piece[at - 1] === BACKSLASH) at--;
  return at;
}

/**
 * Looks at the whole of a JSON text.
 *
 * @returns what it has too much of, in words that follow what it is, such as "the body"; undefined where all is well.
 */
export function excessOf(json: string | Uint8Array, most = MAX_JSON_ELEMENTS): string | undefined {
  if (json.length < LOOKED_AT) return undefined;
  const excess = new JsonShape(most).push(typeof json === "string" ? Buffer.from(json) : json);
  return excess && saidOfExcess(excess, most);
}

/** The words for an excess. */
export function saidOfExcess(excess: Excess, most = MAX_JSON_ELEMENTS): string {
  return excess === "too deep" ? `is nested deeper than ${MAX_JSON_DEPTH} levels` : `has more than ${most} values`;
}
