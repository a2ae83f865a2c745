import { LRUCache } from "lru-cache";
import type { Stored } from "./stored.js";
import { copyOf } from "./values.js";

/** The most that is kept of a collection, and the longest document that is, in bytes as they are stored. */
const MAX_KEPT = 64 * 1024;
const MAX_DOCUMENT = 8 * 1024;

/**
 * Documents of one collection that were read a moment ago, by their ids. Who changes an object reads its document first to
 * see whether it may be changed, and then to change it; to copy a document takes a sixth of the time of reading its bytes.
 */
export class KeptDocuments {
  readonly #kept = new LRUCache<string, Stored>({ maxSize: MAX_KEPT });

  /** A document, which is the reader's own; undefined if it is not kept. */
  get(id: string): Stored | undefined {
    const kept = this.#kept.get(id);
    return kept && (copyOf(kept) as Stored);
  }

  /** Keeps a copy of a document. @param size bytes of it as it is stored. */
  keep(document: Stored, size: number): void {
    if (size <= MAX_DOCUMENT) this.#kept.set(document._id, copyOf(document) as Stored, { size });
  }

  /** Forgets a document before it is written. */
  forget(id: string): void {
    this.#kept.delete(id);
  }

  /** Forgets all. */
  clear(): void {
    this.#kept.clear();
  }
}
