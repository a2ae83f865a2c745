import { LRUCache } from "lru-cache";
import type { Document } from "mongodb";
import type { FindOptions } from "../store.js";
import type { Records } from "./records.js";

/** Longest result that is kept, in characters and in documents. */
const MAX_RESULT = 64 * 1024;
const MAX_DOCUMENTS = 128;
/** The most that is kept of a collection, in characters. */
const MAX_KEPT = 512 * 1024;
/** Queries that were asked once, whose results are kept if they are asked again. */
const MAX_ASKED = 256;
/** Longest name of a query, in characters: a longer query is not kept. */
const MAX_KEY = 2_048;

/** A result, which nobody can change. */
type Result = readonly Document[];

/**
 * Results of the queries of one collection that are asked again while nothing of it changes: the first page of a list is
 * read far more often than anything in it is written. Any write of the collection, from when it begins until it is on
 * disk, ends all of them; so a result is what a query would find. A result is kept when it is asked for a second time.
 */
export class KeptResults {
  readonly #results = new LRUCache<string, Result>({ maxSize: MAX_KEPT });
  readonly #asked = new Set<string>();
  /** The state of the collection that the results are of. */
  #version: number | undefined;

  constructor(private readonly records: Pick<Records, "version">) {}

  /** The name of a query, by which its result is found; undefined if its result is never kept. */
  keyOf(filter: Document, options: FindOptions): string | undefined {
    if (options.limit === undefined || !isPlain(filter) || !isPlain(options)) return undefined;
    const key = JSON.stringify([filter, options]);
    return key.length <= MAX_KEY ? key : undefined;
  }

  /** What was found by a query; undefined if it is not kept. */
  get(key: string): Result | undefined {
    return this.#isCurrent() ? this.#results.get(key) : undefined;
  }

  /** The state of the collection, to be given to {@link keep}; undefined while the collection changes. */
  get version(): number | undefined {
    return this.records.version;
  }

  /** Keeps what a query found, if nothing was written since it began and it was asked before. */
  keep(key: string, found: Result, version: number | undefined): void {
    if (version === undefined || !this.#isCurrent() || version !== this.#version) return;
    if (!this.#asked.has(key)) {
      if (this.#asked.size >= MAX_ASKED) this.#asked.clear();
      this.#asked.add(key);
      return;
    }
    if (found.length > MAX_DOCUMENTS) return;
    const size = key.length + weigh(found);
    if (size <= MAX_RESULT) this.#results.set(key, freeze(found), { size });
  }

  #isCurrent(): boolean {
    const { version } = this.records;
    if (version === undefined) return false;
    if (version !== this.#version) {
      this.#results.clear();
      this.#asked.clear();
      this.#version = version;
    }
    return true;
  }
}

/** Whether JSON tells a value from every other. */
function isPlain(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || value === null) return typeof value !== "bigint";
  if (Array.isArray(value)) return value.every(isPlain);
  if (Object.getPrototypeOf(value) !== Object.prototype) return false;
  for (const name in value) if (!isPlain((value as Document)[name])) return false;
  return true;
}

/** The characters of a value, about; infinitely many of what cannot be frozen. */
function weigh(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null || value instanceof Date) return 8;
  if (ArrayBuffer.isView(value)) return Number.POSITIVE_INFINITY;
  let characters = 8;
  for (const name in value) characters += name.length + weigh((value as Document)[name]);
  return characters;
}

function freeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  for (const name in value) freeze(value[name]);
  return Object.freeze(value);
}
