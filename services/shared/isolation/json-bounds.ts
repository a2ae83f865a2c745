import { MisbehavedError } from "./misbehaved.js";

/** How much a JSON text may hold; also of an event stream, whose events hold JSON. */
export interface JsonBounds {
  readonly bytes: number;
  /** How deep lists and objects are nested. */
  readonly depth: number;
  /** Values and names, counted by what stands between them. */
  readonly nodes: number;
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT, NEW_LINE] = [0x5b, 0x5d, 0x7b, 0x7d, 0x0a];

/**
 * Measures JSON before anybody parses it, piece by piece as it arrives. It does
 * not say whether the text is JSON: that the parser does, once it is known to be small.
 */
export class JsonMeter {
  #bytes = 0;
  #depth = 0;
  #nodes = 0;
  #isInText = false;
  #isEscaped = false;

  constructor(private readonly bounds: JsonBounds) {}

  /** @throws MisbehavedError that says which bound is passed. */
  add(piece: Uint8Array): void {
    const { bytes, depth, nodes } = this.bounds;
    this.#bytes += piece.byteLength;
    if (this.#bytes > bytes) throw new MisbehavedError(`its answer is longer than ${sizeOf(bytes)}`);
    for (const code of piece) {
      if (this.#isInText) this.#inText(code);
      else if (code === QUOTE) this.#isInText = true;
      else if (code === COMMA || code === COLON) this.#nodes++;
      else if (code === OPEN_LIST || code === OPEN_OBJECT) {
        this.#nodes++;
        if (++this.#depth > depth) throw new MisbehavedError(`its JSON is nested deeper than ${depth} levels`);
      } else if ((code === CLOSE_LIST || code === CLOSE_OBJECT) && this.#depth > 0) this.#depth--;
    }
    if (this.#nodes > nodes) throw new MisbehavedError(`its JSON has more than ${nodes} values`);
  }

  #inText(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (code === BACKSLASH) this.#isEscaped = true;
    // A line of an event stream ends, whatever was open in it: JSON has no line break in a text.
    else if (code === QUOTE || code === NEW_LINE) this.#isInText = false;
  }
}

/** Measures a whole text. @throws MisbehavedError that says which bound is passed. */
export function checkJson(text: string, bounds: JsonBounds): void {
  // Shorter in characters than it is in bytes: what is too long is not copied.
  if (text.length > bounds.bytes) throw new MisbehavedError(`its answer is longer than ${sizeOf(bounds.bytes)}`);
  new JsonMeter(bounds).add(Buffer.from(text));
}

function sizeOf(bytes: number): string {
  return bytes >= 2 ** 20 ? `${bytes / 2 ** 20} MiB` : `${bytes / 2 ** 10} KiB`;
}
