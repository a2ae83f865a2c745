import {
  beginningIn,
  beginningOf,
  compareHeads,
  HEAD_BYTES,
  headOf,
  idIn,
  KEY_LENGTH,
  keyIn,
  keyOfId,
  nthIn,
  orderIn,
  sizeIn,
} from "./head.js";
import { bufferOf } from "./segments.js";
import type { ListedSegment, ListRecord, TraceStore } from "./store.js";

// The list of a trace's spans says in which segment each is. It has parts, so that a delivery changes little of it, and so
// few that all are read for one page: at most 40 of some 17 KB.

/** Spans in a part, after which the next part begins. */
const PART_SPANS = 512;
const PART_DIGITS = 4;

/** Where a span is. */
export interface Listed {
  readonly segment: string;
  readonly id: string;
  readonly order: string;
  readonly nth: number;
  /** Where it begins in its segment, and ends. */
  readonly from: number;
  readonly to: number;
  readonly expiresAt: Date;
}

/** A part of a list that takes more. */
export interface OpenPart {
  readonly number: number;
  readonly isThere: boolean;
}

/** That of a trace without a list. */
export const FIRST_PART: OpenPart = { number: 0, isThere: false };

/** The id of a part of a trace's list. */
export function partId(trace: string, { number }: OpenPart): string {
  return `${trace}.${number.toString().padStart(PART_DIGITS, "0")}`;
}

/** The ids of what belongs to a trace, but for its record. */
export function idsOf(trace: string): { readonly $gt: string; readonly $lt: string } {
  // After the dot in the order of characters comes the slash.
  return { $gt: `${trace}.`, $lt: `${trace}/` };
}

/** The spans of a trace that are in segments. */
export class SpanList {
  readonly #segments: readonly ListedSegment[];
  readonly #last: ListRecord | undefined;

  constructor(parts: readonly ListRecord[]) {
    // Two processes may have listed the same delivery.
    const byName = new Map<string, ListedSegment>();
    for (const { segments } of parts)
      for (const one of segments) if (!byName.has(one.segment)) byName.set(one.segment, one);
    this.#segments = [...byName.values()];
    this.#last = parts.at(-1);
  }

  static async read({ lists }: Pick<TraceStore, "lists">, trace: string): Promise<SpanList> {
    return new SpanList(await lists.find({ _id: idsOf(trace) }, { sort: { _id: 1 } }).toArray());
  }

  /** The number of the part that takes the next segments, and whether it is there. */
  get open(): OpenPart {
    if (this.#last === undefined) return FIRST_PART;
    // By its name: parts before it may have expired.
    const number = Number(this.#last._id.slice(-PART_DIGITS));
    const isThere = this.#last.span_count < PART_SPANS;
    return { number: isThere ? number : number + 1, isThere };
  }

  /** Those of some keys that it has. */
  among(keys: ReadonlySet<string>): Set<string> {
    const found = new Set<string>();
    const beginnings = new Set([...keys].map(beginningOf));
    for (const { heads } of this.#segments) {
      const all = bufferOf(heads);
      for (let at = 0; at < all.length; at += HEAD_BYTES) {
        if (!beginnings.has(beginningIn(all, at))) continue;
        const key = keyIn(all, at);
        if (keys.has(key)) found.add(key);
      }
    }
    return found;
  }

  /** The span of an id; of two that came at the same time the one that was listed first. */
  find(id: string): Listed | undefined {
    const key = keyOfId(id);
    if (key.length !== KEY_LENGTH) return undefined;
    const beginning = beginningOf(key);
    for (const one of this.#live()) {
      const heads = bufferOf(one.heads);
      for (let at = 0; at < heads.length; at += HEAD_BYTES)
        if (beginningIn(heads, at) === beginning && keyIn(heads, at) === key) return listed(one, heads, at);
    }
    return undefined;
  }

  /** The first spans after a place in the order. */
  after(order: string | undefined, most: number): Listed[] {
    const first: { readonly one: ListedSegment; readonly heads: Buffer; readonly at: number }[] = [];
    const since = order === undefined ? undefined : headOf(order);
    for (const one of this.#live()) {
      const heads = bufferOf(one.heads);
      for (let at = 0; at < heads.length; at += HEAD_BYTES) {
        const last = first.length < most ? undefined : first.at(-1);
        if (last !== undefined && compareHeads(heads, at, last.heads, last.at) >= 0) continue;
        if (order !== undefined && !isAfter(heads, at, order, since)) continue;
        const next = first.findIndex((other) => compareHeads(heads, at, other.heads, other.at) <= 0);
        const place = first[next];
        // Two deliveries that came at the same time may both have it.
        if (place !== undefined && compareHeads(heads, at, place.heads, place.at) === 0) continue;
        first.splice(next < 0 ? first.length : next, 0, { one, heads, at });
        if (first.length > most) first.pop();
      }
    }
    return first.map(({ one, heads, at }) => listed(one, heads, at));
  }

  #live(): ListedSegment[] {
    const now = Date.now();
    return this.#segments.filter(({ expires_at }) => expires_at.getTime() > now);
  }
}

/** A place in the order that was written before there were segments is no head. */
function isAfter(heads: Buffer, at: number, order: string, place: Buffer | undefined): boolean {
  return place === undefined ? orderIn(heads, at) > order : compareHeads(heads, at, place, 0) > 0;
}

function listed({ segment, expires_at: expiresAt }: ListedSegment, heads: Buffer, at: number): Listed {
  let from = 0;
  for (let before = 0; before < at; before += HEAD_BYTES) from += sizeIn(heads, before);
  const place = { id: idIn(heads, at), order: orderIn(heads, at), nth: nthIn(heads, at) };
  return { segment, ...place, from, to: from + sizeIn(heads, at), expiresAt };
}
