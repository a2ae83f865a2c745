/** A varint has at most ten bytes. A place behind the end thus ends too. https://protobuf.dev/programming-guides/encoding/#varints */
const MAX_BITS = 70;

/** A place in the bytes of messages that are checked (checkWire), and the way on from it. */
export class WireCursor {
  bytes: Buffer;
  at = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  /** The next number; of a long one the lower 32 bits. */
  varint(): number {
    const { bytes } = this;
    let value = 0;
    for (let shift = 0; shift < MAX_BITS; shift += 7) {
      const byte = bytes[this.at++] as number;
      if (shift < 32) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return value >>> 0;
  }

  /** Goes past the value of a field. @param tag its number and wire type. */
  skip(tag: number): void {
    const wire = tag & 7;
    if (wire === 0) this.varint();
    else if (wire === 1) this.at += 8;
    else if (wire === 5) this.at += 4;
    else {
      const length = this.varint();
      this.at += length;
    }
  }
}
