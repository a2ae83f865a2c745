import { hash } from "node:crypto";
import { existsSync, readFileSync, truncateSync } from "node:fs";
import { deserialize } from "node:v8";
import type { Stored } from "./stored.js";
import { toDisk } from "./to-disk.js";

// Journals of versions up to 0.2: frames of the length of a body in bytes, the first bytes of its SHA-256, and the body,
// some documents as V8 writes them. Such a file has something only if the program was killed.

const [DIGEST_AT, BODY_AT] = [4, 12] as const;

/** Gives the documents of such files to `take`, and empties a file once they are taken. */
export async function emptyUnnumbered(
  paths: readonly string[],
  take: (documents: readonly Stored[]) => Promise<void>,
): Promise<void> {
  for (const path of paths.filter(existsSync)) {
    const documents = unnumberedIn(readFileSync(path));
    if (documents.length === 0) continue;
    await take(documents);
    truncateSync(path);
    toDisk(path);
  }
}

/** The documents of the whole frames of such a file, in their order. */
export function unnumberedIn(bytes: Buffer): Stored[] {
  const documents: Stored[] = [];
  for (let at = 0; at + BODY_AT <= bytes.length; ) {
    const length = bytes.readUInt32LE(at);
    // The mark of a numbered journal is no length.
    if (length === 0 || at + BODY_AT + length > bytes.length) break;
    const body = bytes.subarray(at + BODY_AT, at + BODY_AT + length);
    const digest = hash("sha256", body, "buffer").subarray(0, BODY_AT - DIGEST_AT);
    if (!digest.equals(bytes.subarray(at + DIGEST_AT, at + BODY_AT))) break;
    documents.push(...(deserialize(body) as Stored[]));
    at += BODY_AT + length;
  }
  return documents;
}
