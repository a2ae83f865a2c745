import { asBinary, type Database } from "lmdb";
import type { Document } from "mongodb";
import type { IndexSpec } from "../store.js";
import { Beginnings } from "./beginnings.js";
import { DuplicateKeyError } from "./duplicate-key-error.js";
import { componentOf, invert, inverted, isOrdered, isScalar, MAX_PLAIN_BYTES, writePlain } from "./keys.js";
import { valuesAt } from "./paths.js";

interface IndexField {
  readonly path: string;
  readonly segments: readonly string[];
  readonly descending: boolean;
}

/** The state of an index that outlives the process. */
export interface IndexRecord {
  readonly shape: string;
  /** Bit i: field i has held an array, or a value whose order the key does not carry. */
  readonly irregular: number;
}

/** The id of a document as lmdb takes it: its bytes are made once for all indexes. */
export function indexedId(id: string): string {
  return asBinary(Buffer.from(id)) as unknown as string;
}

/** Where keys are written. */
const WRITTEN = Buffer.alloc(16 * MAX_PLAIN_BYTES);
const BEGINNINGS = new Beginnings(WRITTEN);

/**
 * One declared index: key bytes to document id. The id ends the key, in the
 * direction of the last field, unless the index is unique.
 */
export class SecondaryIndex {
  readonly fields: readonly IndexField[];
  readonly unique: boolean;
  readonly sparse: boolean;
  /** False while documents that were there before it are being added. */
  complete = false;
  #irregular: number;
  /** What of it is on disk, or will be if the transaction that runs succeeds. */
  #recorded: number;
  /** Another thread of the process keeps the index too. */
  #isShared = false;

  constructor(
    readonly spec: IndexSpec,
    readonly database: Database<string, Buffer>,
    private readonly records: Database<IndexRecord, string>,
    private readonly recordKey: string,
  ) {
    this.fields = Object.entries(spec.key).map(([path, direction]) => ({
      path,
      segments: path.split("."),
      descending: direction === -1,
    }));
    this.unique = spec.unique ?? false;
    this.sparse = spec.sparse ?? false;
    const record = records.get(recordKey);
    this.#irregular = record?.irregular ?? 0;
    this.#recorded = this.#irregular;
  }

  /** Whether what is on disk was made for this declaration. */
  get isRecorded(): boolean {
    return this.records.get(this.recordKey)?.shape === shapeOf(this.spec);
  }

  /** From now on another thread of the process keeps the index too: what either notes of it, it notes on disk. */
  share(): void {
    this.#isShared = true;
  }

  /** Before a query is planned: learns what the other thread has noted. */
  reread(): void {
    if (this.#isShared) this.#irregular |= this.records.get(this.recordKey)?.irregular ?? 0;
  }

  /** Inside a transaction: from now on the index is kept, and trusted after a restart. */
  record(): void {
    this.reread();
    void this.records.put(this.recordKey, { shape: shapeOf(this.spec), irregular: this.#irregular });
    this.#recorded = this.#irregular;
  }

  /** When a transaction is undone: what it recorded must be recorded again. */
  undone(): void {
    this.#recorded = 0;
  }

  /** Whether the keys of a field give its order, and one document one key. */
  isRegular(field: number): boolean {
    return (this.#irregular & (1 << field)) === 0;
  }

  get isMultiple(): boolean {
    return this.#irregular !== 0;
  }

  /** The bytes of one field's value inside a key. */
  part(field: number, value: unknown): Buffer {
    const component = componentOf(value);
    return this.fields[field]?.descending ? inverted(component) : component;
  }

  /** Inside a transaction: refuses a document whose key another document has. */
  check(document: Document, keys: readonly Buffer[]): void {
    if (!this.unique) return;
    for (const key of keys) {
      const owner = this.database.get(key);
      if (owner !== undefined && owner !== document._id) throw new DuplicateKeyError(this.spec.name, this.spec.key);
    }
  }

  /** Inside a transaction, after check: replaces the keys of one version of a document by those of the next. */
  replace(id: string, before: readonly Buffer[], after: readonly Buffer[]): void {
    for (const key of notIn(before, after)) void this.database.remove(key);
    for (const key of notIn(after, before)) void this.database.put(key, id);
  }

  /** Whether two versions of a document surely have the same keys: each indexed field has the same value or list of values in both. */
  keepsKeys(before: Document, after: Document): boolean {
    for (const { segments } of this.fields) {
      const [old, now] = [before[segments[0] as string], after[segments[0] as string]];
      // An update of other fields leaves the very same value.
      if (old === now) continue;
      if (segments.length > 1) return false;
      if (!Array.isArray(old) || !Array.isArray(now)) {
        if (!isSame(old, now)) return false;
      } else if (old.length !== now.length || !old.every((value, i) => isSame(value, now[i]))) return false;
    }
    return true;
  }

  /**
   * Inside a transaction: puts the keys of a document that is new into an index that is not unique.
   *
   * @param id of {@link indexedId}.
   */
  insert(document: Document, id: string): void {
    const key = this.#plainKeyOf(document);
    if (key !== undefined) void this.database.put(key, id);
    else for (const one of this.#allKeysOf(document)) void this.database.put(one, id);
  }

  /** Every key of a document: one for each element of an array. */
  keysOf(document: Document | undefined): readonly Buffer[] {
    if (!document) return [];
    const key = this.#plainKeyOf(document);
    return key === undefined ? this.#allKeysOf(document) : [Buffer.from(key)];
  }

  /**
   * The one key of a document if each indexed field is a short text, number, boolean, time or null; undefined otherwise. Hot
   * path: it is written where the last one was.
   */
  #plainKeyOf(document: Document): Buffer | undefined {
    if ((this.fields.length + 1) * MAX_PLAIN_BYTES > WRITTEN.length) return undefined;
    let end = 0;
    for (const { path, segments, descending } of this.fields) {
      if (segments.length > 1 || !Object.hasOwn(document, path)) return undefined;
      end = written(end, document[path], descending);
      if (end < 0) return undefined;
    }
    if (!this.unique) end = written(end, document._id, this.fields.at(-1)?.descending);
    return end < 0 ? undefined : BEGINNINGS.of(end);
  }

  #allKeysOf(document: Document): readonly Buffer[] {
    const found = this.fields.map((field) => valuesAt(document, field.segments));
    if (this.sparse && found.every(({ missing }) => missing)) return [];
    if (found.filter(({ many }) => many).length > 1) this.#refuseParallelArrays(document);
    let rows: Buffer[] = [Buffer.alloc(0)];
    found.forEach(({ values, many }, i) => {
      if (many || !values.every(isOrdered)) this.#noteIrregular(i);
      const parts = values.map((value) => this.part(i, value));
      rows = rows.flatMap((row) => parts.map((part) => Buffer.concat([row, part])));
    });
    const keys = this.unique ? rows : rows.map((row) => Buffer.concat([row, this.#idPart(document._id)]));
    // Elements of an array may be equal.
    return [...new Map(keys.map((key) => [key.toString("latin1"), key])).values()];
  }

  #idPart(id: string): Buffer {
    const component = componentOf(id);
    return this.fields.at(-1)?.descending ? inverted(component) : component;
  }

  #noteIrregular(field: number): void {
    const bit = 1 << field;
    if (this.#recorded & bit) return;
    this.#irregular |= bit;
    if (this.complete) this.record();
  }

  /** Two arrays in one key would multiply; MongoDB refuses them alike. */
  #refuseParallelArrays(document: Document): void {
    const arrays = new Set(this.fields.flatMap(({ segments }) => firstArrayAt(document, segments) ?? []));
    if (arrays.size > 1)
      throw Object.assign(new Error(`cannot index parallel arrays ${[...arrays].join(" and ")} in ${this.spec.name}`), {
        code: 171,
      });
  }
}

/** Writes one component into the key that is being made; returns where it ends, or -1 as {@link writePlain} does. */
function written(from: number, value: unknown, descending = false): number {
  const end = writePlain(WRITTEN, from, value);
  if (descending) invert(WRITTEN, from, end);
  return end;
}

/** Whether two values are surely the same. */
function isSame(old: unknown, now: unknown): boolean {
  if (old instanceof Date && now instanceof Date) return old.getTime() === now.getTime();
  return old === now && (old === undefined || isScalar(old));
}

/** The keys that are not among others. */
function notIn(keys: readonly Buffer[], others: readonly Buffer[]): readonly Buffer[] {
  if (others.length === 0) return keys;
  if (others.length === 1) return keys.filter((key) => !key.equals(others[0] as Buffer));
  const known = new Set(others.map((other) => other.toString("latin1")));
  return keys.filter((key) => !known.has(key.toString("latin1")));
}

/** What must be equal for the bytes on disk to serve a declaration. */
export function shapeOf(spec: IndexSpec): string {
  return JSON.stringify([Object.entries(spec.key), spec.unique ?? false, spec.sparse ?? false]);
}

function firstArrayAt(document: Document, segments: readonly string[]): string | undefined {
  let node: unknown = document;
  for (const [depth, segment] of segments.entries()) {
    node = (node as Document | undefined)?.[segment];
    if (Array.isArray(node)) return segments.slice(0, depth + 1).join(".");
    if (typeof node !== "object" || node === null) return undefined;
  }
  return undefined;
}
