import type { PassageRecord } from "./records.js";

/** What a passage takes in addition to its texts, about, in bytes. */
const PASSAGE_BYTES = 64;
/** The terms that a text is found by, about, in bytes for each of its own. */
const TERMS = 0.8;

/** The bytes that passages take without their vectors. */
export function passageBytes(passages: readonly PassageRecord[]): number {
  let bytes = passages.length * PASSAGE_BYTES;
  for (const { text, headings } of passages) {
    bytes += Math.ceil((1 + TERMS) * Buffer.byteLength(text));
    for (const heading of headings) bytes += Buffer.byteLength(heading);
  }
  return bytes;
}

/** The bytes that the vectors of so many passages take. */
export function vectorBytes(passages: number, dimensions: number): number {
  return passages * dimensions * Float32Array.BYTES_PER_ELEMENT;
}

/** The bytes that passages take with their vectors. */
export function documentBytes(passages: readonly PassageRecord[], dimensions: number): number {
  return passageBytes(passages) + vectorBytes(passages.length, dimensions);
}
