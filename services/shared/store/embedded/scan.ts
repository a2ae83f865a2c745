import type { Database } from "lmdb";
import type { Document } from "mongodb";
import { MergedRanges } from "./merge.js";
import type { Candidate, Plan } from "./plan.js";

/** An index that a scan can walk: bytes to the id of a document, or to the document itself. */
export interface Walkable extends Candidate {
  readonly database: Database<unknown, Buffer>;
}

/**
 * Reads the document of an entry, from what the index holds, its key, and how many bytes of that its range begins with;
 * undefined if it does not match.
 */
export type ReadEntry = (value: unknown, key: Buffer, prefix: number) => Document | undefined;

/** Says whether to go on after an entry. */
type Visit = (value: unknown, key: Buffer, prefix: number) => boolean;

/** How long a scan may hold the event loop before it gives way, in milliseconds. */
const SLICE_MS = 4;
const CHECK_EVERY = 32;

/**
 * Walks the ranges of a plan and stops where it is told to, so that a long
 * scan can give way and go on later from the key where it stopped. No read
 * transaction is held in between: a document written meanwhile may be seen or not.
 */
export class Scan {
  done = false;
  /** How many keys were looked at. */
  examined = 0;
  /** How many documents {@link look} has looked at, and what the index holds of the last. */
  looked = 0;
  last: unknown;
  #range = 0;
  #after: Buffer | undefined;
  #merged: MergedRanges | undefined;
  readonly #seen: Set<string> | undefined;

  constructor(
    private readonly plan: Plan<Walkable>,
    private readonly read: ReadEntry,
  ) {
    this.#seen = plan.repeats ? new Set() : undefined;
  }

  /** Whether entries can be counted and passed without reading documents. */
  get isExact(): boolean {
    return this.plan.exact;
  }

  /** The documents that match, to the end or to the limit. Inside a write transaction, or for few. */
  all(limit = Number.POSITIVE_INFINITY): Document[] {
    const found: Document[] = [];
    this.#walk((value, key, prefix) => {
      const document = this.#accept(value, key, prefix);
      return document === undefined || found.push(document) < limit;
    });
    return found;
  }

  /** The documents that match and were found within one slice of time. */
  slice(limit = Number.POSITIVE_INFINITY): Document[] {
    const found: Document[] = [];
    const keepOn = timeSlice();
    this.gaveWay();
    this.#walk((value, key, prefix) => {
      const document = this.#accept(value, key, prefix);
      if (document !== undefined && found.push(document) >= limit) return false;
      return keepOn();
    });
    return found;
  }

  /**
   * Looks at `most` more documents at most; stops when `limit` match, or when `keepOn` says no after one.
   * Called in the turn of the call before it, or after {@link gaveWay}.
   */
  look(most: number, limit: number, keepOn: () => boolean): Document[] {
    const found: Document[] = [];
    let left = most;
    if (most > 0)
      this.#walk((value, key, prefix) => {
        if (!this.#isNew(value)) return true;
        this.last = value;
        left--;
        const document = this.read(value, key, prefix);
        return (document === undefined || found.push(document) < limit) && left > 0 && keepOn();
      });
    this.looked += most - left;
    return found;
  }

  /** Whether there is anything that was not looked at; the last that is asked of a scan. */
  hasMore(): boolean {
    if (!this.done) this.#walk((value) => !this.#isNew(value));
    return !this.done;
  }

  /** Other work may have run since the last entry. */
  gaveWay(): void {
    this.#merged?.gaveWay();
  }

  /** How many entries were passed within one slice of time; only for an exact plan. */
  countSlice(limit: number): number {
    let count = 0;
    const keepOn = timeSlice();
    this.gaveWay();
    this.#walk((value) => {
      if (this.#isNew(value) && ++count >= limit) return false;
      return keepOn();
    });
    return count;
  }

  #accept(value: unknown, key: Buffer, prefix: number): Document | undefined {
    return this.#isNew(value) ? this.read(value, key, prefix) : undefined;
  }

  #isNew(value: unknown): boolean {
    if (!this.#seen) return true;
    const before = this.#seen.size;
    return this.#seen.add(value as string).size > before;
  }

  /** Goes on until the visitor says false. */
  #walk(visit: Visit): void {
    if (this.plan.merged) this.#walkMerged(visit);
    else this.#walkInTurn(visit);
  }

  /** To find where a thousand ranges begin takes longer than a slice: it is done once. */
  #walkMerged(visit: Visit): void {
    const { index, ranges, reverse } = this.plan;
    this.#merged ??= new MergedRanges(index.database, ranges, reverse);
    for (let entry = this.#merged.next(); entry !== undefined; entry = this.#merged.next()) {
      this.examined++;
      if (!visit(entry.value, entry.key, entry.prefix)) return;
    }
    this.done = true;
  }

  #walkInTurn(visit: Visit): void {
    const { index, ranges, reverse } = this.plan;
    for (; this.#range < ranges.length; this.#range++, this.#after = undefined) {
      const { start, end, prefix } = ranges[this.#range]!;
      const [from, to] = reverse ? [end, start] : [start, end];
      const options = { start: this.#after ?? from, end: to, reverse, inclusiveEnd: true };
      const entries = index.database.getRange({ ...options, exclusiveStart: this.#after !== undefined });
      for (const { key, value } of entries) {
        this.examined++;
        if (visit(value, key, prefix.length)) continue;
        this.#after = Buffer.from(key);
        return;
      }
    }
    this.done = true;
  }
}

function timeSlice(): () => boolean {
  // From the first entry on: finding where a thousand ranges begin must not use up the time to go on.
  let until: number | undefined;
  let count = 0;
  return () => {
    until ??= performance.now() + SLICE_MS;
    return ++count % CHECK_EVERY !== 0 || performance.now() < until;
  };
}
