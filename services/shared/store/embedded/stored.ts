import { asBinary } from "lmdb";
import type { Document } from "mongodb";

/** A document as it is stored. */
export type Stored = Document & { _id: string };

/** The bytes of a document, for lmdb to store as they are. */
export function asStored(bytes: Buffer): Stored {
  return asBinary(bytes) as unknown as Stored;
}
