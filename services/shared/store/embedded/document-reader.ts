import type { Document } from "mongodb";

// msgpackr makes a document field by field. V8 keeps an object that grows past some
// sixteen fields in this way as a table of hashes: to copy it, or to go through its
// fields, takes ten times as long. Documents of a collection have the same few lists
// of fields, so each list is remembered, and a document begins as a copy of an object
// that has all of them.

/** How documents are read that are not read here: the library's own way. Throws for bytes that are no document. */
export type Decode = (bytes: Buffer, end?: number) => unknown;

/** A field of documents, after those before it. */
interface Step {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly next: Step[];
  /** The fields up to this one. */
  readonly names: readonly string[];
  /** A document of these fields, if there are such documents. */
  shape?: Document;
}

/** Steps that are remembered of a collection, and of those that follow one: names of fields may be data. */
const MOST_STEPS = 1_000;
const MOST_NEXT = 16;

/** Says that something is for the library. */
const NOT_HERE = new Error("this document is read by msgpackr");

/** Reads documents as msgpackr does, as far as they consist of what nearly all do; the rest is left to it. Hot path. */
export class DocumentReader {
  private bytes: Buffer = Buffer.alloc(0);
  private at = 0;
  private steps = 0;
  private readonly first: Step = { name: "", bytes: new Uint8Array(), next: [], names: [] };

  constructor(private readonly decode: Decode) {}

  /** @param end where the document ends, if the bytes go on. */
  read(bytes: Buffer, end?: number): unknown {
    this.bytes = bytes;
    this.at = 0;
    try {
      const document = this.document();
      if (this.at === (end ?? bytes.length)) return document;
    } catch {
      // Bytes that are no document are refused by the library too.
    }
    return this.decode(bytes, end);
  }

  private document(): Document {
    if (this.bytes[this.at++] !== 0xde) throw NOT_HERE;
    const count = this.number(2);
    let step = this.first;
    const values: unknown[] = [];
    for (let i = 0; i < count; i++) {
      step = this.step(step);
      values.push(this.value());
    }
    step.shape ??= shapeOf(step.names);
    const document = { ...step.shape };
    for (let i = 0; i < count; i++) document[step.names[i] as string] = values[i];
    return document;
  }

  /** The step of the name that comes next. */
  private step(before: Step): Step {
    const { bytes } = this;
    const length = (bytes[this.at++] as number) - 0xa0;
    if (!(length > 0 && length < 32)) throw NOT_HERE;
    const { at } = this;
    this.at += length;
    for (const step of before.next) if (isAt(bytes, at, step.bytes)) return step;
    if (++this.steps > MOST_STEPS || before.next.length >= MOST_NEXT) throw NOT_HERE;
    const own = Uint8Array.prototype.slice.call(bytes, at, at + length);
    const name = Buffer.from(own).toString();
    if (name === "__proto__") throw NOT_HERE;
    const step = { name, bytes: own, next: [], names: [...before.names, name] };
    before.next.push(step);
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
    const object: Document = {};
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

function isAt(bytes: Buffer, at: number, wanted: Uint8Array): boolean {
  // The byte before a name tells its length.
  if ((bytes[at - 1] as number) - 0xa0 !== wanted.length) return false;
  for (let i = 0; i < wanted.length; i++) if (bytes[at + i] !== wanted[i]) return false;
  return true;
}

/** An object with these fields, as V8 keeps those of a program's own text. */
function shapeOf(names: readonly string[]): Document {
  return JSON.parse(JSON.stringify(Object.fromEntries(names.map((name) => [name, null])))) as Document;
}
