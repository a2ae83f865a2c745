import { hash } from "node:crypto";
import { deserialize, serialize } from "node:v8";
import type { Stored } from "./records.js";

// What is appended at a time is a frame: the length of its documents in bytes,
// the first bytes of their SHA-256, and the documents. A crash may leave a part
// of a frame, or of an older one, at the end: its digest is not that of its bytes.

const LENGTH_BYTES = 4;
const DIGEST_BYTES = 8;

/** The frame of some documents. */
export function frameOf(documents: readonly Stored[]): Buffer {
  const body = serialize(documents);
  const head = Buffer.alloc(LENGTH_BYTES);
  head.writeUInt32LE(body.length);
  return Buffer.concat([head, digestOf(body), body]);
}

/** The documents of the whole frames of a file, in their order. */
export function documentsIn(bytes: Buffer): Stored[] {
  const documents: Stored[] = [];
  let at = 0;
  while (at + LENGTH_BYTES + DIGEST_BYTES <= bytes.length) {
    const from = at + LENGTH_BYTES + DIGEST_BYTES;
    const length = bytes.readUInt32LE(at);
    const body = bytes.subarray(from, from + length);
    if (body.length < length || !digestOf(body).equals(bytes.subarray(at + LENGTH_BYTES, from))) break;
    documents.push(...(deserialize(body) as Stored[]));
    at = from + body.length;
  }
  return documents;
}

function digestOf(body: Buffer): Buffer {
  return hash("sha256", body, "buffer").subarray(0, DIGEST_BYTES);
}
