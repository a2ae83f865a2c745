import { createHash } from "node:crypto";
import type { Document } from "mongodb";

// Index keys are bytes whose order is the order of the values: a tag by type,
// in MongoDB's comparison order, then the value. A component says itself where
// it ends, so that components can follow one another, and inverted components
// give a descending order.

/** Stands for an empty array, which sorts before null. */
export const EMPTY = Symbol("empty array");

/** A value that a key gives the order of. */
export type Scalar = string | number | boolean | null | Date;

const TAG = {
  empty: 0x08,
  null: 0x10,
  number: 0x20,
  string: 0x30,
  object: 0x40,
  array: 0x48,
  binary: 0x50,
  boolean: 0x60,
  date: 0x70,
} as const;

/** Strings and binaries are ordered by this many bytes; past them, told apart by a hash. */
const MAX_BYTES = 240;
const END = Buffer.from([0, 0]);
const CUT = Buffer.from([0, 1]);

/** Sorts after whatever may follow a prefix. */
const AFTER = Buffer.alloc(16, 0xff);

const NULL_KEY = Buffer.from([TAG.null]);
const EMPTY_KEY = Buffer.from([TAG.empty]);

/** Whether a key gives the order of a value. */
export function isScalar(value: unknown): value is Scalar {
  const type = typeof value;
  return type === "string" || type === "number" || type === "boolean" || value === null || value instanceof Date;
}

/** One value as a component of an index key. */
export function componentOf(value: unknown): Buffer {
  return encode(value, MAX_BYTES);
}

/** One value as a component of a sort key in memory, where nothing is cut. */
export function wholeComponentOf(value: unknown): Buffer {
  return encode(value, Number.POSITIVE_INFINITY);
}

/** Whether the component orders the value exactly as its type does. */
export function isOrdered(value: unknown): boolean {
  if (typeof value === "string")
    return value.length * 3 <= MAX_BYTES || escaped(Buffer.from(value)).length <= MAX_BYTES;
  return value === EMPTY || isScalar(value);
}

/** Bytes inverted, for a descending field. */
export function inverted(bytes: Buffer): Buffer {
  const out = Buffer.from(bytes);
  invert(out, 0, out.length);
  return out;
}

/** Every key from low up to, and with, all that begin with high. */
export interface KeyRange {
  readonly start: Buffer;
  readonly end: Buffer;
}

/** What a value must be above and below; an open side leaves out the bound itself, where keys give its order. */
export interface Bounds {
  readonly lower?: Scalar;
  readonly upper?: Scalar;
  readonly lowerOpen?: boolean;
  readonly upperOpen?: boolean;
}

/** The keys that begin with the prefix. */
export function beginningWith(prefix: Buffer): KeyRange {
  return { start: prefix, end: Buffer.concat([prefix, AFTER]) };
}

/**
 * The keys that begin with the prefix and go on with a component between two
 * bounds of one type; an absent bound is the end of that type.
 */
export function between(prefix: Buffer, { lower, upper, lowerOpen, upperOpen }: Bounds, descending: boolean): KeyRange {
  const tag = Buffer.from([tagOf((lower ?? upper) as Scalar)]);
  const low = { bytes: lower === undefined ? tag : boundOf(lower), open: lowerOpen === true && isOrdered(lower) };
  const high = { bytes: upper === undefined ? tag : boundOf(upper), open: upperOpen === true && isOrdered(upper) };
  const [first, last] = descending
    ? [
        { ...high, bytes: inverted(high.bytes) },
        { ...low, bytes: inverted(low.bytes) },
      ]
    : [low, high];
  return {
    start: Buffer.concat(first.open ? [prefix, first.bytes, AFTER] : [prefix, first.bytes]),
    end: Buffer.concat(last.open ? [prefix, last.bytes] : [prefix, last.bytes, AFTER]),
  };
}

/** Whether two values are compared by $gt and $lt: only values of one type are. */
export function sameType(a: Scalar, b: Scalar): boolean {
  return tagOf(a) === tagOf(b);
}

function tagOf(value: Scalar): number {
  if (value === null) return TAG.null;
  if (value instanceof Date) return TAG.date;
  return TAG[typeof value as "string" | "number" | "boolean"];
}

/** A cut string is bounded by what is left of it, so that every string that begins so is inside. */
function boundOf(value: Scalar): Buffer {
  if (typeof value !== "string" || isOrdered(value)) return componentOf(value);
  return Buffer.concat([Buffer.from([TAG.string]), cut(escaped(Buffer.from(value)))]);
}

function encode(value: unknown, max: number): Buffer {
  if (value === undefined || value === null) return NULL_KEY;
  if (value === EMPTY) return EMPTY_KEY;
  if (typeof value === "string") return stringKey(value, max);
  if (typeof value === "number") return numberKey(TAG.number, value);
  if (typeof value === "boolean") return Buffer.from([TAG.boolean, value ? 1 : 0]);
  if (value instanceof Date) return numberKey(TAG.date, value.getTime());
  if (value instanceof Uint8Array) {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(value.length);
    return bytesKey(TAG.binary, Buffer.concat([length, value]), max);
  }
  return Buffer.concat([Buffer.from([Array.isArray(value) ? TAG.array : TAG.object]), hash(canonical(value))]);
}

function numberKey(tag: number, value: number): Buffer {
  const key = Buffer.allocUnsafe(9);
  writeNumber(key, 0, tag, value);
  return key;
}

/** IEEE 754 with the sign bit flipped, or every bit of a negative; NaN comes first, as in MongoDB. */
function writeNumber(key: Buffer, at: number, tag: number, value: number): number {
  const [from, end] = [at + 1, at + 9];
  key[at] = tag;
  if (Number.isNaN(value)) {
    key.fill(0, from, end);
    return end;
  }
  key.writeDoubleBE(value === 0 ? 0 : value, from);
  if ((key[from] as number) & 0x80) invert(key, from, end);
  else key[from] = (key[from] as number) | 0x80;
  return end;
}

/** What nearly all keys are made of: a short text without a zero byte takes one piece of memory. */
function stringKey(value: string, max: number): Buffer {
  const length = Buffer.byteLength(value);
  if (length > max || value.includes("\0")) return bytesKey(TAG.string, Buffer.from(value), max);
  const key = Buffer.allocUnsafe(length + 3);
  writeShortText(key, 0, value);
  return key;
}

/** Writes the component of a text that is not cut and has no zero byte; returns where it ends. */
export function writeShortText(key: Buffer, at: number, value: string): number {
  key[at] = TAG.string;
  const end = key.write(value, at + 1) + at + 1;
  key[end] = 0;
  key[end + 1] = 0;
  return end + 2;
}

/**
 * Writes the component of a text, number, time, boolean or null; returns where it ends, or -1 if there is another way
 * for it: it is no such value, or a text that may be cut or has a zero byte.
 *
 * @param key has room for {@link MAX_PLAIN_BYTES} more.
 */
export function writePlain(key: Buffer, at: number, value: unknown): number {
  if (typeof value === "string") {
    if (3 * value.length > MAX_BYTES || value.includes("\0")) return -1;
    return writeShortText(key, at, value);
  }
  if (typeof value === "number") return writeNumber(key, at, TAG.number, value);
  if (value instanceof Date) return writeNumber(key, at, TAG.date, value.getTime());
  if (value === null) key[at] = TAG.null;
  else if (typeof value === "boolean") {
    key[at] = TAG.boolean;
    key[++at] = value ? 1 : 0;
  } else return -1;
  return at + 1;
}

/** The longest component that {@link writePlain} writes. */
export const MAX_PLAIN_BYTES = MAX_BYTES + 3;

/** Inverts a part of a key where it is, for a descending field. */
export function invert(key: Buffer, from: number, end: number): void {
  for (let i = from; i < end; i++) key[i] = ~(key[i] as number);
}

function bytesKey(tag: number, bytes: Buffer, max: number): Buffer {
  const body = escaped(bytes);
  if (body.length <= max) return Buffer.concat([Buffer.from([tag]), body, END]);
  return Buffer.concat([Buffer.from([tag]), cut(body), CUT, hash(bytes)]);
}

/** A zero byte becomes 00 FF, so that 00 00 can only be an end. */
function escaped(bytes: Buffer): Buffer {
  if (!bytes.includes(0)) return bytes;
  return Buffer.from([...bytes].flatMap((byte) => (byte === 0 ? [0, 0xff] : [byte])));
}

function cut(body: Buffer): Buffer {
  const end = body[MAX_BYTES - 1] === 0 ? MAX_BYTES - 1 : MAX_BYTES;
  return body.subarray(0, end);
}

function hash(bytes: Buffer): Buffer {
  return createHash("sha256").update(bytes).digest();
}

/** Equal arrays and objects have equal bytes; the order of fields counts, as in MongoDB. */
function canonical(value: unknown): Buffer {
  if (Array.isArray(value)) return Buffer.concat([Buffer.from("["), ...value.map(part), Buffer.from("]")]);
  const fields = Object.entries(value as Document).flatMap(([name, field]) => [part(name), part(field)]);
  return Buffer.concat([Buffer.from("{"), ...fields, Buffer.from("}")]);
}

function part(value: unknown): Buffer {
  return wholeComponentOf(value);
}
