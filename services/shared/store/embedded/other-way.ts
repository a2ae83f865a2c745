import { Beginnings } from "./beginnings.js";
import type { Candidate, Plan } from "./plan.js";
import type { Walkable } from "./scan.js";

/** Beginnings of keys that are looked up; with more of them it costs less to read the document. */
const MAX_PREFIXES = 8;

/** Says of a key of one index, and of the length of what its range begins with, whether its document is on another way too. */
export type OnOtherWay = (key: Buffer, prefix: number) => boolean;

/**
 * Two indexes that go on with the same fields behind their equalities have the same bytes there of one document. So a key of
 * one tells the key that the document has in the other, if it has what that one's way demands.
 *
 * @returns undefined if the keys do not tell.
 */
export function onOtherWay(own: Plan<Walkable>, other: Plan<Walkable>): OnOtherWay | undefined {
  const { index, ranges, equal, covered } = other;
  if (own.index.unique || index.unique || ranges.length > MAX_PREFIXES || !isSame(restOf(own), restOf(other)))
    return undefined;
  if (!index.fields.slice(0, equal).every(({ path }) => covered.has(path))) return undefined;
  const { database } = index;
  return (key, length) => ranges.some(({ prefix }) => database.doesExist(withPrefix(prefix, key, length)));
}

function restOf({ index, equal }: Plan<Candidate>): readonly unknown[] {
  return index.fields.slice(equal).flatMap(({ path, descending }) => [path, descending]);
}

function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length > 0 && one.length === other.length && one.every((value, i) => value === other[i]);
}

/** Where keys are put together: lmdb copies a key before it answers. */
const KEY = Buffer.alloc(2_048);
const BEGINNINGS = new Beginnings(KEY);

/** A key with another beginning instead of its first bytes. The next call may write over it. */
function withPrefix(prefix: Buffer, key: Buffer, length: number): Buffer {
  const size = prefix.length + key.length - length;
  if (size > KEY.length) return Buffer.concat([prefix, key.subarray(length)]);
  KEY.set(prefix);
  key.copy(KEY, prefix.length, length);
  return BEGINNINGS.of(size);
}
