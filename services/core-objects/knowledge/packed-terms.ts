import type { Language } from "./languages.js";
import { type Bag, bagsOf } from "./terms.js";

// The terms of the passages of a block as bytes, so that a knowledge base is
// read into memory without reading its texts word by word again:
//   version, passages; of each passage language, length (16 bits);
//   of each term number (32 bits), passages; of each of them its position, times.

/** Raise it when terms are made in another way: terms that were packed before are then made again. */
const VERSION = 1;
const MOST_TIMES = 127;

/** A passage, as far as its words are concerned. */
export interface Worded {
  readonly text: string;
  readonly headings: readonly string[];
}

/** The terms of the passages of a block, at most 127: those of their texts and of the headings above them. */
export function packedTerms(passages: readonly Worded[]): Uint8Array {
  const bags = bagsOf(passages.map(({ text, headings }) => [...headings, text].join("\n")));
  const places = new Map<number, number[]>();
  for (const [position, { terms }] of bags.entries())
    for (const [number, times] of terms) {
      const of = places.get(number);
      if (of === undefined) places.set(number, [position, times]);
      else of.push(position, times);
    }
  return packed(bags, places);
}

function packed(bags: readonly Bag[], places: ReadonlyMap<number, readonly number[]>): Uint8Array {
  let size = 2 + bags.length * 3;
  for (const of of places.values()) size += 5 + of.length;
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  bytes[0] = VERSION;
  bytes[1] = bags.length;
  let at = 2;
  for (const { language, length } of bags) {
    bytes[at] = language;
    view.setUint16(at + 1, Math.min(length, 65_535), true);
    at += 3;
  }
  for (const [number, of] of places) {
    view.setUint32(at, number, true);
    bytes[at + 4] = of.length / 2;
    at += 5;
    for (const one of of) bytes[at++] = Math.min(one, MOST_TIMES);
  }
  return bytes;
}

/** Hears what is packed. */
export interface TermReader {
  passage(position: number, language: Language, length: number): void;
  term(position: number, number: number, times: number): void;
}

/** Whether bytes are terms as they are made now, for this number of passages. */
export function areTerms(bytes: Uint8Array | undefined, passages: number): bytes is Uint8Array {
  return bytes !== undefined && bytes[0] === VERSION && bytes[1] === passages;
}

/** Reads what is packed: all passages, then all terms. */
export function readTerms(bytes: Uint8Array, reader: TermReader): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const passages = bytes[1]!;
  let at = 2;
  for (let position = 0; position < passages; position++, at += 3)
    reader.passage(position, bytes[at]!, view.getUint16(at + 1, true));
  while (at < bytes.length) {
    const number = view.getUint32(at, true);
    const end = at + 5 + 2 * bytes[at + 4]!;
    for (at += 5; at < end; at += 2) reader.term(bytes[at]!, number, bytes[at + 1]!);
  }
}
