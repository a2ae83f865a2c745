import type { Database } from "lmdb";

/** What lmdb calls for each key that it meets; its types leave it out. */
interface KeyReader {
  readKey(bytes: Buffer, start: number, end: number): Buffer;
}

/** The most bytes that V8 keeps inside of a typed array: to make a longer one takes seven times as long as to copy a key. */
const IN_PLACE = 64;

/**
 * Has the keys of a database copied into Node's pool of memory, where they are longer than what an array holds itself.
 * Keys of indexes usually are, and a scan reads one for each document that it looks at.
 */
export function withPooledKeys<V>(database: Database<V, Buffer>): Database<V, Buffer> {
  (database as unknown as KeyReader).readKey = (bytes, start, end) => {
    if (end - start <= IN_PLACE) return Uint8Array.prototype.slice.call(bytes, start, end) as Buffer;
    const key = Buffer.allocUnsafe(end - start);
    bytes.copy(key, 0, start, end);
    return key;
  };
  return database;
}
