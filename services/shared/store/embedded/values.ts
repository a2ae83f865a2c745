import type { Document } from "mongodb";
import { v7 as uuid } from "uuid";
import { Beginnings } from "./beginnings.js";
import { componentOf, isOrdered, writeShortText } from "./keys.js";

/**
 * Copies a document into what can be stored: absent fields dropped, binary as
 * Buffer. Throws TypeError, naming the field, for a value of any other kind.
 */
export function storable(document: Document): Document & { _id: string } {
  const copy = copyOf(document) as Document & { _id: string };
  if (typeof copy._id !== "string" || !isOrdered(copy._id))
    throw new TypeError("_id must be a string of at most 240 bytes");
  return copy;
}

/** The same of one field. */
export function storableField(value: unknown, name: string): unknown {
  if (name === "__proto__") throw new TypeError("a field cannot be named __proto__");
  return copyOf(value, name);
}

/** The same of a document that is given an id if it has none. */
export function withId(document: Document): Document & { _id: string } {
  return storable(document._id == null ? { ...document, _id: uuid() } : document);
}

/** The key of a document in its collection. */
export function idKey(id: string): Buffer {
  return componentOf(id);
}

/** Whether the keys of this id and of all others like it are in the order of their texts. */
export function isPlainId(id: string): boolean {
  return id.length <= MAX_SHORT && /^[\x20-\x7e]*$/.test(id);
}

/** The longest id whose key is written where the last one was, in characters. */
const MAX_SHORT = 80;
const WRITTEN = Buffer.alloc(3 * MAX_SHORT + 3);
const BEGINNINGS = new Beginnings(WRITTEN);

/** The same key, for lmdb, which copies it before it answers. The next call writes over it. */
export function idKeyOnce(id: string): Buffer {
  if (id.length > MAX_SHORT || id.includes("\0")) return idKey(id);
  return BEGINNINGS.of(writeShortText(WRITTEN, 0, id));
}

/**
 * A copy that shares nothing that can be changed. Hot path: what has the fields of another object is made with all of them
 * at once, and has its hidden class.
 *
 * @param path where the value is in its document, for the error.
 * @throws TypeError for what cannot be stored.
 */
export function copyOf(value: unknown, path = ""): unknown {
  if (value === null || typeof value === "string" || typeof value === "boolean" || typeof value === "number")
    return value;
  if (value instanceof Date) return new Date(value.getTime());
  if (value instanceof Uint8Array) return Buffer.from(value);
  if (Array.isArray(value)) return listOf(value, path);
  if (typeof value !== "object" || !isPlain(value)) throw new TypeError(`${path || "a document"} cannot be stored`);
  const copy: Document = { ...value };
  let hasAbsent = false;
  for (const name in copy) {
    if (name === "__proto__") throw new TypeError("a field cannot be named __proto__");
    const field: unknown = copy[name];
    if (field === undefined) hasAbsent = true;
    else if (typeof field !== "string") copy[name] = copyOf(field, path === "" ? name : `${path}.${name}`);
  }
  return hasAbsent ? Object.fromEntries(Object.entries(copy).filter(([, field]) => field !== undefined)) : copy;
}

function listOf(elements: readonly unknown[], path: string): unknown[] {
  const copy = elements.slice();
  for (let i = 0; i < copy.length; i++) {
    const element = copy[i];
    if (typeof element !== "string") copy[i] = element === undefined ? null : copyOf(element, path);
  }
  return copy;
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
