import { createHash, type Hash } from "node:crypto";
import type { Base, DocCollection, OptionalUnlessRequiredId, Store } from "./store.js";

/** Documents, and bytes of them, that are written at a time. */
const BATCH = 500;
const BATCH_BYTES = 4 << 20;

/** The documents of a collection, counted and in one digest. */
export interface Digest {
  readonly documents: number;
  readonly sha256: string;
}

/** Copies the documents of a collection, in the order of their ids, into one that has none. */
export async function copyCollection(source: Store, target: Store, name: string): Promise<void> {
  const into = target.collection<Base>(name);
  let batch: OptionalUnlessRequiredId<Base>[] = [];
  let bytes = 0;
  const write = async (): Promise<void> => {
    if (batch.length > 0) await into.insertMany(batch);
    batch = [];
    bytes = 0;
  };
  for await (const document of inOrder(source.collection<Base>(name))) {
    batch.push(document);
    bytes += sizeOf(document);
    if (batch.length === BATCH || bytes >= BATCH_BYTES) await write();
  }
  await write();
}

/** Reads all documents of a collection: two with the same digest have the same documents, field by field. */
export async function digestOf(store: Store, name: string): Promise<Digest> {
  const hash = createHash("sha256");
  let documents = 0;
  for await (const document of inOrder(store.collection<Base>(name))) {
    feed(hash, document);
    documents++;
  }
  return { documents, sha256: hash.digest("hex") };
}

function inOrder(collection: DocCollection<Base>): AsyncIterable<Base> {
  return collection.find({}, { sort: { _id: 1 } });
}

/** Writes a value so that no two that differ are written alike: with its kind, and with its length or its end. */
function feed(hash: Hash, value: unknown): void {
  if (value === null || value === undefined) hash.update("z");
  else if (typeof value === "string") hash.update(`s${value.length}:`).update(value);
  else if (typeof value === "number") hash.update(`n${Object.is(value, -0) ? "-0" : value};`);
  else if (typeof value === "boolean") hash.update(value ? "t" : "f");
  else if (value instanceof Date) hash.update(`d${value.getTime()};`);
  else if (value instanceof Uint8Array) hash.update(`b${value.length}:`).update(value);
  else if (Array.isArray(value)) {
    hash.update("[");
    for (const element of value) feed(hash, element);
    hash.update("]");
  } else if (isPlain(value as object)) {
    hash.update("{");
    for (const [name, field] of Object.entries(value as object)) {
      feed(hash, name);
      feed(hash, field);
    }
    hash.update("}");
  } else throw new TypeError("a document has a value of a kind that no store keeps");
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** About how many bytes a value takes. */
function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (value instanceof Uint8Array) return value.length;
  if (typeof value !== "object" || value === null || value instanceof Date) return 8;
  let bytes = 0;
  for (const [name, field] of Object.entries(value)) bytes += name.length + sizeOf(field);
  return bytes;
}
