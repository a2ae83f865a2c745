import type { PassageRecord } from "./records.js";

/** What a passage takes in addition to its texts, about, in bytes. */
const PASSAGE_BYTES = 64;
/** The terms that a text is found by, about, in bytes for each of its own. */
const TERMS = 0.8;

/** The bytes that passages take with their vectors, which is known before the vectors are. */
export function documentBytes(passages: readonly PassageRecord[], dimensions: number): number {
  let bytes = passages.length * (PASSAGE_BYTES + dimensions * Float32Array.BYTES_PER_ELEMENT);
  for (const { text, headings } of passages) {
    bytes += Math.ceil((1 + TERMS) * Buffer.byteLength(text));
    for (const heading of headings) bytes += Buffer.byteLength(heading);
  }
  return bytes;
}
