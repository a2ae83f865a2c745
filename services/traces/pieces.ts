/** Where pieces of bytes begin and end, one after the other. */
export type Pieces = readonly number[];

/** The values of a field of texts, bytes or messages, in the bytes of a message that are checked. */
export function piecesOf(bytes: Uint8Array, from: number, to: number, field: number): Pieces {
  const found: number[] = [];
  let at = from;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] as number;
      if (shift < 32) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
  };
  while (at < to) {
    const tag = varint();
    const wire = tag & 7;
    if (wire === 0) varint();
    else if (wire === 1) at += 8;
    else if (wire === 5) at += 4;
    else {
      const length = varint();
      if (tag >>> 3 === field) found.push(at, at + length);
      at += length;
    }
  }
  return found;
}
