import type { Document } from "mongodb";

// msgpackr makes a document field by field. V8 keeps an object that grows past some
// sixteen fields in this way as a table of hashes: to copy it, or to go through its
// fields, takes ten times as long. Documents of a collection have the same few lists
// of fields, so each list is remembered, and documents of a list that is met often are
// made by a function that has its names in its text.

/** A field of documents, after those before it. */
export interface Step {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly next: Step[];
  /** Whether its value is read. */
  readonly isRead: boolean;
  /** The fields up to this one that are read. */
  readonly names: readonly string[];
  /** Documents of these fields that were made, and what makes them once there were {@link OFTEN} of them. */
  made: number;
  make: ((values: readonly unknown[]) => Document) | undefined;
}

/** Steps that are remembered, and of those that follow one: names of fields may be data. */
const MOST_STEPS = 1_000;
const MOST_NEXT = 16;
/** To compile a function takes as long as to make some dozen documents without it. */
const OFTEN = 20;

/** The lists of fields that documents have. Hot path. */
export class Shapes {
  readonly first: Step;
  private steps = 0;

  /** @param isRead whether the value of a field is read. */
  constructor(private readonly isRead: (name: string) => boolean = () => true) {
    this.first = {
      ...{ name: "", bytes: new Uint8Array(), next: [], isRead: false, names: [] },
      made: 0,
      make: undefined,
    };
  }

  /** The step of the name at a place, after another; undefined if it is not remembered. */
  next(before: Step, bytes: Buffer, at: number, length: number): Step | undefined {
    const { next } = before;
    for (let i = 0; i < next.length; i++) {
      const step = next[i] as Step;
      if (step.bytes.length === length && isAt(bytes, at, step.bytes)) return step;
    }
    if (this.steps >= MOST_STEPS || next.length >= MOST_NEXT) return undefined;
    const own = Uint8Array.prototype.slice.call(bytes, at, at + length);
    const name = Buffer.from(own).toString();
    // Bytes that are no UTF-8 stand for half of a surrogate pair.
    if (name === "__proto__" || name.includes("\ufffd")) return undefined;
    const isRead = this.isRead(name);
    const names = isRead ? [...before.names, name] : before.names;
    const step: Step = { name, bytes: own, next: [], isRead, names, made: 0, make: undefined };
    this.steps++;
    next.push(step);
    return step;
  }
}

/** A document of the fields up to a step. */
export function documentOf(step: Step, values: readonly unknown[]): Document {
  if (step.make !== undefined) return step.make(values);
  if (++step.made > OFTEN) step.make = makerOf(step.names);
  const document: Document = {};
  for (let i = 0; i < values.length; i++) document[step.names[i] as string] = values[i];
  return document;
}

function makerOf(names: readonly string[]): (values: readonly unknown[]) => Document {
  const fields = names.map((name, i) => `${JSON.stringify(name)}: v[${i}]`);
  return new Function("v", `return { ${fields.join(", ")} };`) as (values: readonly unknown[]) => Document;
}

function isAt(bytes: Buffer, at: number, wanted: Uint8Array): boolean {
  for (let i = 0; i < wanted.length; i++) if (bytes[at + i] !== wanted[i]) return false;
  return true;
}
