import { WireCursor } from "./wire-cursor.js";

/** Where pieces of bytes begin and end, one after the other. */
export type Pieces = readonly number[];

/** The values of a field of texts, bytes or messages, in the bytes of a message that are checked. */
export function piecesOf(bytes: Buffer, from: number, to: number, field: number): Pieces {
  const found: number[] = [];
  const cursor = new WireCursor(bytes);
  cursor.at = from;
  while (cursor.at < to) {
    const tag = cursor.varint();
    if (tag >>> 3 !== field || (tag & 7) !== 2) {
      cursor.skip(tag);
      continue;
    }
    const length = cursor.varint();
    found.push(cursor.at, cursor.at + length);
    cursor.at += length;
  }
  return found;
}
