import type { Document } from "mongodb";
import { EVERY_FIELD, type Fields, isOf, only } from "./fields.js";
import { documentOf, Shapes, type Step } from "./shapes.js";

/** How documents are read that are not read here: the library's own way. Throws for bytes that are no document. */
export type Decode = (bytes: Buffer, end?: number) => unknown;

/** The bytes that follow a token, by the token: -1 if it does not tell them, or is one that is not read here. */
const LENGTHS = new Int8Array(256).fill(-1);
LENGTHS.fill(0, 0x00, 0x80).fill(0, 0xe0);
for (let length = 0; length < 32; length++) LENGTHS[0xa0 + length] = length;
for (const token of [0xc0, 0xc2, 0xc3]) LENGTHS[token] = 0;
for (const token of [0xcc, 0xd0]) LENGTHS.set([1, 2, 4], token);
LENGTHS[0xcb] = 8;
LENGTHS.set([5, 9], 0xd6);

/** Says that something is for the library. */
const NOT_HERE = new Error("this document is read by msgpackr");

/**
 * Reads documents as msgpackr does, as far as they consist of what nearly all do; the rest is left to it. Fields that are
 * not asked for are passed by their lengths. Hot path.
 */
export class DocumentReader {
  private bytes: Buffer = Buffer.alloc(0);
  private at = 0;
  private readonly shapes: Shapes;
  /** How many fields are read at most, and whether they were. */
  private readonly most: number;
  private isDone = false;
  /** Of documents in documents. */
  private readonly inner = new Shapes();

  constructor(
    private readonly decode: Decode,
    private readonly fields: Fields = EVERY_FIELD,
  ) {
    this.shapes = new Shapes((name) => isOf(fields, name));
    this.most = fields.areLeftOut ? Number.POSITIVE_INFINITY : new Set(fields.names).size;
  }

  /** @param end where the document ends, if the bytes go on. */
  read(bytes: Buffer, end?: number): unknown {
    this.bytes = bytes;
    this.at = 0;
    try {
      const document = this.document();
      // Where all that is asked for was found, the rest is not looked at.
      if (this.at === (end ?? bytes.length) || this.isDone) return document;
    } catch {
      // Bytes that are no document are refused by the library too.
    }
    const document = this.decode(bytes, end);
    return this.fields === EVERY_FIELD ? document : only(document as Document, this.fields);
  }

  private document(): Document {
    if (this.bytes[this.at++] !== 0xde) throw NOT_HERE;
    const count = this.number(2);
    let step = this.shapes.first;
    const values: unknown[] = [];
    this.isDone = false;
    for (let i = 0; i < count && !this.isDone; i++) {
      const next = this.step(this.shapes, step);
      if (next === undefined) throw NOT_HERE;
      step = next;
      if (!step.isRead) this.pass();
      else this.isDone = values.push(this.value()) === this.most;
    }
    return documentOf(step, values);
  }

  /** The step of the name that comes next, gone past; undefined, and nothing is passed, if it is not remembered. */
  private step(shapes: Shapes, before: Step): Step | undefined {
    const length = (this.bytes[this.at] as number) - 0xa0;
    if (!(length > 0 && length < 32)) return undefined;
    const step = shapes.next(before, this.bytes, this.at + 1, length);
    if (step !== undefined) this.at += 1 + length;
    return step;
  }

  private value(): unknown {
    const token = this.bytes[this.at++] as number;
    if (token < 0x80) return token;
    if (token < 0xa0) return token < 0x90 ? this.object(token - 0x80) : this.list(token - 0x90);
    if (token < 0xc0) return this.text(token - 0xa0);
    if (token >= 0xe0) return token - 0x100;
    switch (token) {
      case 0xc0:
        return null;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return this.binary(this.number(2 ** (token - 0xc4)));
      case 0xcb:
        this.at += 8;
        return this.bytes.readDoubleBE(this.at - 8);
      case 0xcc:
      case 0xcd:
      case 0xce:
        return this.number(2 ** (token - 0xcc));
      case 0xd0:
      case 0xd1:
      case 0xd2:
        return this.signed(2 ** (token - 0xd0));
      case 0xd6:
      case 0xd7:
        return this.time(token === 0xd7);
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.text(this.number(2 ** (token - 0xd9)));
      case 0xdc:
        return this.list(this.number(2));
      case 0xde:
        return this.object(this.number(2));
      default:
        throw NOT_HERE;
    }
  }

  /** Goes past a value. */
  private pass(): void {
    for (let left = 1; left > 0; left--) {
      const token = this.bytes[this.at++] as number;
      const length = LENGTHS[token] as number;
      if (length >= 0) this.at += length;
      else if (token < 0x90) left += 2 * (token - 0x80);
      else if (token < 0xa0) left += token - 0x90;
      else if (token === 0xdc) left += this.number(2);
      else if (token === 0xde) left += 2 * this.number(2);
      else if (token >= 0xc4 && token <= 0xc6) this.passBytes(2 ** (token - 0xc4));
      else if (token >= 0xd9 && token <= 0xdb) this.passBytes(2 ** (token - 0xd9));
      else throw NOT_HERE;
    }
  }

  /** Goes past bytes whose number comes first. */
  private passBytes(length: number): void {
    const count = this.number(length);
    this.at += count;
  }

  /** An unsigned number of some bytes. */
  private number(length: number): number {
    let number = 0;
    for (let i = 0; i < length; i++) number = number * 256 + (this.bytes[this.at++] as number);
    return number;
  }

  private signed(length: number): number {
    const number = this.number(length);
    const most = 2 ** (8 * length - 1);
    return number < most ? number : number - 2 * most;
  }

  /** A copy: the bytes of the next document are written over these. */
  private binary(length: number): Buffer {
    const from = this.at;
    this.at += length;
    return Uint8Array.prototype.slice.call(this.bytes, from, this.at) as Buffer;
  }

  private text(length: number): string {
    if (length === 0) return "";
    const from = this.at;
    this.at += length;
    const text = this.bytes.toString("utf8", from, this.at);
    // Bytes that are no UTF-8 stand for half of a surrogate pair, which the library keeps.
    if (text.includes("\ufffd")) throw NOT_HERE;
    return text;
  }

  private list(length: number): unknown[] {
    const list: unknown[] = [];
    for (let i = 0; i < length; i++) list.push(this.value());
    return list;
  }

  private object(count: number): Document {
    let step = this.inner.first;
    const values: unknown[] = [];
    for (let i = 0; i < count; i++) {
      const next = this.step(this.inner, step);
      if (next === undefined) return this.othersInto(documentOf(step, values), count - i);
      step = next;
      values.push(this.value());
    }
    return documentOf(step, values);
  }

  /** Reads fields whose names are not remembered. */
  private othersInto(object: Document, count: number): Document {
    for (let i = 0; i < count; i++) {
      const name = this.value();
      if (typeof name !== "string" || name === "__proto__") throw NOT_HERE;
      object[name] = this.value();
    }
    return object;
  }

  /** A timestamp: 32 bits of seconds, or 30 of nanoseconds and 34 of seconds. */
  private time(isLong: boolean): Date {
    if (this.bytes[this.at++] !== 0xff) throw NOT_HERE;
    if (!isLong) return new Date(this.number(4) * 1_000);
    const [high, low] = [this.number(4), this.number(4)];
    const seconds = (high % 4) * 2 ** 32 + low;
    return new Date(seconds * 1_000 + Math.floor(high / 4) / 1_000_000);
  }
}
