import { BinaryReader } from "@bufbuild/protobuf/wire";

/** A longer text is decoded by the library with what it was told (text-encoding.ts), which is faster then. */
const SHORT = 4_096;
/** What stands for bytes that are not UTF-8; a text may have it too. */
const REPLACED = "\ufffd";
/** A varint of up to seven bytes has 49 bits, which a number holds exactly. */
const EXACT = 7;

/** The library's reader, with fewer objects for each text and each 64-bit integer. */
export class Reader extends BinaryReader {
  readonly #bytes: Buffer;

  constructor(bytes: Uint8Array) {
    super(bytes);
    this.#bytes = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  override string(strict?: boolean): string {
    const before = this.pos;
    const length = this.uint32();
    const start = this.pos;
    if (length < SHORT) {
      this.pos += length;
      this.assertBounds();
      const text = this.#bytes.toString("utf8", start, this.pos);
      if (!text.includes(REPLACED)) return text;
    }
    this.pos = before;
    return super.string(strict);
  }

  override int64(): bigint | string {
    return this.#small() ?? super.int64();
  }

  override uint64(): bigint | string {
    return this.#small() ?? super.uint64();
  }

  /** A varint of few bytes; undefined, and nothing is read, if it has more. */
  #small(): bigint | undefined {
    let value = 0;
    for (let n = 0, unit = 1; n < EXACT; n++, unit *= 0x80) {
      const byte = this.#bytes[this.pos + n] as number;
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) {
        this.pos += n + 1;
        return BigInt(value);
      }
    }
    return undefined;
  }
}
