import type { Database } from "lmdb";
import type { KeyRange } from "./keys.js";

/** Some of the keys of an index: those that begin with a prefix, or a part of them. */
export interface PrefixedRange extends KeyRange {
  readonly prefix: Buffer;
}

/** A key of an index and what it holds. */
interface Entry {
  readonly key: Buffer;
  readonly value: unknown;
}

/** One range, read a little ahead. */
interface Branch {
  readonly range: PrefixedRange;
  ahead: readonly Entry[];
  at: number;
  /** How many entries the next look takes. */
  chunk: number;
  /** The turn of the event loop that they were read in. */
  turn: number;
}

/** Few at first, because of a thousand branches most give nothing to a page. */
const FIRST_CHUNK = 1;
const GROWTH = 4;
const MAX_CHUNK = 256;

/**
 * Reads several ranges of an index as one, ordered by what follows their
 * prefixes: what a page of it costs depends on the page and on how many ranges
 * there are, not on how much they hold. Whoever gives way in between says so:
 * what was read ahead by then is given only if it is still there, and what is
 * written meanwhile may be given or not.
 */
export class MergedRanges {
  /** The branches that have something, what comes next at the end. */
  readonly #branches: Branch[] = [];
  #turn = 0;

  constructor(
    private readonly database: Database<unknown, Buffer>,
    ranges: readonly PrefixedRange[],
    private readonly reverse: boolean,
  ) {
    for (const range of ranges) {
      const branch: Branch = { range, ahead: [], at: 0, chunk: FIRST_CHUNK, turn: 0 };
      this.#look(branch, undefined);
      if (branch.ahead.length > 0) this.#branches.push(branch);
    }
    this.#branches.sort((a, b) => -this.#compare(a, b));
  }

  /** From here on other work may have run since the last entry. */
  gaveWay(): void {
    this.#turn++;
  }

  /** The next entry, and how many bytes of its key its range begins with; undefined at the end. */
  next(): (Entry & { readonly prefix: number }) | undefined {
    for (;;) {
      const branch = this.#branches.pop();
      if (branch === undefined) return undefined;
      const entry = branch.ahead[branch.at]!;
      const value = branch.turn === this.#turn ? entry.value : this.database.get(entry.key);
      if (++branch.at === branch.ahead.length) this.#look(branch, entry.key);
      if (branch.at < branch.ahead.length) this.#put(branch);
      if (value !== undefined) return { key: entry.key, value, prefix: branch.range.prefix.length };
    }
  }

  #look(branch: Branch, after: Buffer | undefined): void {
    const { reverse } = this;
    const { start, end } = branch.range;
    const [from, to] = reverse ? [end, start] : [start, end];
    branch.at = 0;
    branch.ahead = [];
    branch.turn = this.#turn;
    if (after !== undefined && isAt(after, to, reverse)) return;
    const begun = after !== undefined && isAt(after, from, reverse);
    const range = { start: begun ? after : from, exclusiveStart: begun, end: to, inclusiveEnd: true };
    branch.ahead = [...this.database.getRange({ ...range, reverse, limit: branch.chunk })];
    branch.chunk = Math.min(branch.chunk * GROWTH, MAX_CHUNK);
  }

  /** Puts a branch where its next entry belongs. */
  #put(branch: Branch): void {
    let [low, high] = [0, this.#branches.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#compare(this.#branches[middle]!, branch) > 0) low = middle + 1;
      else high = middle;
    }
    this.#branches.splice(low, 0, branch);
  }

  #compare(a: Branch, b: Branch): number {
    const order = compareFrom(a.ahead[a.at]!.key, a.range.prefix.length, b.ahead[b.at]!.key, b.range.prefix.length);
    return this.reverse ? -order : order;
  }
}

/** Compares what follows in two keys. What differs is near: to call the library takes longer than to look. */
function compareFrom(a: Buffer, from: number, b: Buffer, otherFrom: number): number {
  const length = Math.min(a.length - from, b.length - otherFrom);
  for (let i = 0; i < length; i++) {
    const order = (a[from + i] as number) - (b[otherFrom + i] as number);
    if (order !== 0) return order;
  }
  return a.length - from - (b.length - otherFrom);
}

/** Whether a reading that has come to a key is at a place or past it. */
function isAt(key: Buffer, place: Buffer, reverse: boolean): boolean {
  const order = Buffer.compare(key, place);
  return reverse ? order <= 0 : order >= 0;
}
