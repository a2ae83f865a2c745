import { hash } from "node:crypto";

// What is appended at a time is a frame: a mark, the first bytes of the SHA-256 of what follows, the number of its first
// entry, how many entries they are, their length in bytes, and the entries. Entries are numbered one after the
// other for as long as a journal is there. A crash may leave a part of a frame at the end, and behind the end are older
// frames: the digest of the one is not that of its bytes, and the numbers of the others do not go on.

/** The next version of a document. */
export interface Entry {
  /** The name of its collection. */
  readonly collection: string;
  readonly id: string;
  /** The document, as it is stored. */
  readonly bytes: Buffer;
}

/** Entries that were appended together. */
export interface Frame {
  /** The number of the first. */
  readonly first: number;
  readonly entries: readonly Entry[];
}

const MARK = 0x324a_5053;
const [DIGEST_AT, FIRST_AT, COUNT_AT, LENGTH_AT, BODY_AT] = [4, 12, 20, 24, 28] as const;

/** The bytes of a frame. */
export function frameOf({ first, entries }: Frame): Buffer {
  let length: number = BODY_AT;
  for (const { collection, id, bytes } of entries)
    length += 8 + Buffer.byteLength(collection) + Buffer.byteLength(id) + bytes.length;
  const frame = Buffer.allocUnsafe(length);
  frame.writeUInt32LE(MARK, 0);
  frame.writeDoubleLE(first, FIRST_AT);
  frame.writeUInt32LE(entries.length, COUNT_AT);
  frame.writeUInt32LE(length - BODY_AT, LENGTH_AT);
  let at: number = BODY_AT;
  for (const { collection, id, bytes } of entries) {
    at = written(frame, at, collection);
    at = written(frame, at, id);
    at = frame.writeUInt32LE(bytes.length, at);
    at += bytes.copy(frame, at);
  }
  digestOf(frame).copy(frame, DIGEST_AT);
  return frame;
}

/** The whole frames of a file, up to the first that does not go on from the one before it. */
export function framesIn(bytes: Buffer): Frame[] {
  const frames: Frame[] = [];
  let next: number | undefined;
  for (let at = 0; at + BODY_AT <= bytes.length; ) {
    const frame = bytes.subarray(at, at + BODY_AT + bytes.readUInt32LE(at + LENGTH_AT));
    const first = frame.readDoubleLE(FIRST_AT);
    if (frame.readUInt32LE(0) !== MARK || (next !== undefined && first !== next)) break;
    if (!digestOf(frame).equals(frame.subarray(DIGEST_AT, FIRST_AT))) break;
    const entries = entriesIn(frame);
    frames.push({ first, entries });
    next = first + entries.length;
    at += frame.length;
  }
  return frames;
}

function entriesIn(frame: Buffer): Entry[] {
  let at: number = BODY_AT;
  const text = (): string => {
    const from = at + 2;
    at = from + frame.readUInt16LE(at);
    return frame.toString("utf8", from, at);
  };
  return Array.from({ length: frame.readUInt32LE(COUNT_AT) }, () => {
    const [collection, id] = [text(), text()];
    const from = at + 4;
    at = from + frame.readUInt32LE(at);
    return { collection, id, bytes: frame.subarray(from, at) };
  });
}

/** Writes a text behind its length; @returns where it ends. */
function written(frame: Buffer, at: number, text: string): number {
  const length = frame.write(text, at + 2);
  frame.writeUInt16LE(length, at);
  return at + 2 + length;
}

function digestOf(frame: Buffer): Buffer {
  return hash("sha256", frame.subarray(FIRST_AT), "buffer").subarray(0, FIRST_AT - DIGEST_AT);
}
