import type { Document } from "mongodb";

/** The longest document that is written here, in bytes, and how deep it may be. */
const MOST_BYTES = 32 * 1024;
const MOST_DEPTH = 16;
/** Where documents are written, one after the other. */
const BYTES = Buffer.allocUnsafeSlow(MOST_BYTES);
/** Names of fields that are remembered: they may be data. */
const MOST_NAMES = 2_000;
/** A shorter text is written character by character, which takes less time than a call of the buffer's own writer. */
const SHORT_TEXT = 64;

/**
 * Writes documents as msgpackr does, byte for byte, as far as they consist of what nearly all do; the rest is left to it. A
 * document of the audit takes half the time. Hot path.
 */
export class DocumentWriter {
  #at = 0;
  readonly #names = new Map<string, Uint8Array>();

  /** @returns the bytes of a document; undefined if it is for the library. */
  write(document: Document): Buffer | undefined {
    this.#at = 0;
    if (!this.#object(document, 0)) return undefined;
    const written = Buffer.allocUnsafe(this.#at);
    BYTES.copy(written, 0, 0, this.#at);
    return written;
  }

  /** Each of these says whether it has written the value. */
  #object(document: Document, depth: number): boolean {
    if (depth > MOST_DEPTH || Object.getPrototypeOf(document) !== Object.prototype) return false;
    const from = this.#at;
    this.#at += 3;
    let count = 0;
    for (const name in document) {
      if (!(this.#name(name) && this.#value(document[name], depth))) return false;
      count++;
    }
    if (count > 0xffff) return false;
    BYTES[from] = 0xde;
    BYTES.writeUInt16BE(count, from + 1);
    return true;
  }

  #name(name: string): boolean {
    const known = this.#names.get(name) ?? this.#nameOf(name);
    const at = this.#at;
    if (known === undefined || at + known.length > MOST_BYTES) return false;
    for (let i = 0; i < known.length; i++) BYTES[at + i] = known[i] as number;
    this.#at = at + known.length;
    return true;
  }

  /** A name as it is written; undefined if it is not written here. */
  #nameOf(name: string): Uint8Array | undefined {
    if (name.length > 31 || !/^[\x20-\x7e]+$/.test(name) || name === "__proto__") return undefined;
    if (this.#names.size >= MOST_NAMES) this.#names.clear();
    const bytes = Buffer.from(`\0${name}`);
    bytes[0] = 0xa0 + name.length;
    this.#names.set(name, bytes);
    return bytes;
  }

  #value(value: unknown, depth: number): boolean {
    if (typeof value === "string") return this.#text(value);
    // What follows a text has room for the longest number.
    if (this.#at + 10 > MOST_BYTES) return false;
    if (typeof value === "number") return this.#number(value);
    if (typeof value === "boolean") return this.#byte(value ? 0xc3 : 0xc2);
    if (value === null) return this.#byte(0xc0);
    if (typeof value !== "object") return false;
    if (Array.isArray(value)) return this.#list(value, depth + 1);
    return value instanceof Date ? this.#time(value) : this.#object(value, depth + 1);
  }

  #byte(byte: number): boolean {
    BYTES[this.#at++] = byte;
    return true;
  }

  #text(text: string): boolean {
    const { length } = text;
    if (this.#at + 3 + length * 3 > MOST_BYTES) return false;
    return length < SHORT_TEXT ? this.#shortText(text) : this.#longText(text);
  }

  #shortText(text: string): boolean {
    const { length } = text;
    const from = this.#at;
    const body = from + (length < 32 ? 1 : 2);
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) return this.#longText(text);
      BYTES[body + i] = code;
    }
    if (length < 32) BYTES[from] = 0xa0 + length;
    else {
      BYTES[from] = 0xd9;
      BYTES[from + 1] = length;
    }
    this.#at = body + length;
    return true;
  }

  #longText(text: string): boolean {
    if (!text.isWellFormed()) return false;
    const from = this.#at;
    const length = Buffer.byteLength(text);
    let body = from + 1;
    if (length < 32) BYTES[from] = 0xa0 + length;
    else if (length < 0x100) {
      BYTES[from] = 0xd9;
      body = BYTES.writeUInt8(length, body);
    } else {
      BYTES[from] = 0xda;
      body = BYTES.writeUInt16BE(length, body);
    }
    this.#at = body + BYTES.write(text, body);
    return true;
  }

  #number(value: number): boolean {
    const from = this.#at;
    if (value >>> 0 === value) {
      if (value < 0x80) return this.#byte(value);
      BYTES[from] = value < 0x100 ? 0xcc : value < 0x10000 ? 0xcd : 0xce;
      if (value < 0x100) this.#at = BYTES.writeUInt8(value, from + 1);
      else this.#at = value < 0x10000 ? BYTES.writeUInt16BE(value, from + 1) : BYTES.writeUInt32BE(value, from + 1);
      return true;
    }
    if (value >> 0 === value) return false;
    BYTES[from] = 0xcb;
    this.#at = BYTES.writeDoubleBE(value, from + 1);
    return true;
  }

  /** Times of 1970 to 2106: with milliseconds in eight bytes, or in four. */
  #time(date: Date): boolean {
    const ms = date.getTime();
    const seconds = Math.floor(ms / 1000);
    if (!(seconds > 0 && seconds < 0x100000000)) return false;
    const from = this.#at;
    const rest = ms - seconds * 1000;
    BYTES[from] = rest === 0 ? 0xd6 : 0xd7;
    BYTES[from + 1] = 0xff;
    let at = from + 2;
    if (rest !== 0) at = BYTES.writeUInt32BE(rest * 4_000_000, at);
    this.#at = BYTES.writeUInt32BE(seconds, at);
    return true;
  }

  #list(values: readonly unknown[], depth: number): boolean {
    if (depth > MOST_DEPTH || values.length > 15) return false;
    this.#byte(0x90 + values.length);
    for (let i = 0; i < values.length; i++) if (!this.#value(values[i], depth)) return false;
    return true;
  }
}
