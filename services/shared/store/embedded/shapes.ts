import type { Document } from "mongodb";

// msgpackr makes a document field by field. V8 keeps an object that grows past some
// sixteen fields in this way as a table of hashes: to copy it, or to go through its
// fields, takes ten times as long. Documents of a collection have the same few lists
// of fields, so each list is remembered, and a document begins as a copy of an object
// that has all of them.

/** A field of documents, after those before it. */
export interface Step {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly next: Step[];
  /** Whether its value is read. */
  readonly isRead: boolean;
  /** The fields up to this one that are read. */
  readonly names: readonly string[];
  /** A document of these fields, if there are such documents. */
  shape?: Document;
}

/** Steps that are remembered, and of those that follow one: names of fields may be data. */
const MOST_STEPS = 1_000;
const MOST_NEXT = 16;
/** The most fields of a list that is remembered: each step holds the names before it. */
const MOST_NAMES = 100;

/** The lists of fields that documents have. Hot path. */
export class Shapes {
  readonly first: Step;
  private steps = 0;

  /** @param isRead whether the value of a field is read. */
  constructor(private readonly isRead: (name: string) => boolean = () => true) {
    this.first = { name: "", bytes: new Uint8Array(), next: [], isRead: false, names: [] };
  }

  /** The step of the name at a place, after another; undefined if it is not remembered. */
  next(before: Step, bytes: Buffer, at: number, length: number): Step | undefined {
    const { next } = before;
    for (let i = 0; i < next.length; i++) {
      const step = next[i] as Step;
      if (step.bytes.length === length && isAt(bytes, at, step.bytes)) return step;
    }
    if (this.steps >= MOST_STEPS || next.length >= MOST_NEXT || before.names.length >= MOST_NAMES) return undefined;
    const own = Uint8Array.prototype.slice.call(bytes, at, at + length);
    const name = Buffer.from(own).toString();
    // Bytes that are no UTF-8 stand for half of a surrogate pair.
    if (name === "__proto__" || name.includes("\ufffd")) return undefined;
    const isRead = this.isRead(name);
    const names = isRead ? [...before.names, name] : before.names;
    const step: Step = { name, bytes: own, next: [], isRead, names };
    this.steps++;
    next.push(step);
    return step;
  }
}

/** A document of the fields up to a step that are read. */
export function documentOf(step: Step, values: readonly unknown[]): Document {
  step.shape ??= shapeOf(step.names);
  const document = { ...step.shape };
  for (let i = 0; i < values.length; i++) document[step.names[i] as string] = values[i];
  return document;
}

/** An object with these fields, as V8 keeps those of a program's own text. */
function shapeOf(names: readonly string[]): Document {
  return JSON.parse(JSON.stringify(Object.fromEntries(names.map((name) => [name, null])))) as Document;
}

function isAt(bytes: Buffer, at: number, wanted: Uint8Array): boolean {
  for (let i = 0; i < wanted.length; i++) if (bytes[at + i] !== wanted[i]) return false;
  return true;
}
