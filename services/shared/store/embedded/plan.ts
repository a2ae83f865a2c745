import type { Constraint, Constraints } from "./constraints.js";
import { beginningWith, between } from "./keys.js";
import type { PrefixedRange } from "./merge.js";
import type { SortField } from "./order.js";
import type { SecondaryIndex } from "./secondary-index.js";

/** What the planner needs to know of an index; the documents themselves are one, over _id. */
export type Candidate = Pick<
  SecondaryIndex,
  "spec" | "fields" | "unique" | "sparse" | "complete" | "isRegular" | "isMultiple" | "part"
>;

/** How an index is walked to find what a filter means. */
export interface Plan<C extends Candidate> {
  readonly index: C;
  /** How many of its first fields the ranges begin with the values of. */
  readonly equal: number;
  readonly ranges: readonly PrefixedRange[];
  readonly reverse: boolean;
  /** The documents come in the order that was asked for. */
  readonly sorted: boolean;
  /** They do when the ranges are read as one, by what follows their prefixes. */
  readonly merged: boolean;
  /** Paths of which the ranges hold just what the filter demands: they need no second look. */
  readonly covered: ReadonlySet<string>;
  /** These are all: whatever the ranges hold matches. */
  readonly exact: boolean;
  /** One document may come more than once. */
  readonly repeats: boolean;
  /** The filter does not narrow the scan at all. */
  readonly full: boolean;
}

/** Ranges that are read as one; with more of them it costs less to read one after another and to sort. */
const MAX_MERGED = 2_000;

/** Points that the values of several fields may multiply to; what is past it is left to the matcher. */
const MAX_POINTS = 1_000;

/**
 * Chooses the index that narrows a filter most: equalities on its first
 * fields, then a range or the sort. Without one, all documents by _id.
 *
 * @param hint the index to take, by its name; others where it is still being made.
 */
export function planOf<C extends Candidate>(
  constraints: Constraints,
  sort: readonly SortField[],
  primary: C,
  indexes: readonly C[],
  hint?: string,
): Plan<C> {
  const wanted = hint === undefined ? undefined : indexes.find(({ spec }) => spec.name === hint);
  if (hint !== undefined && wanted === undefined) throw new Error(`there is no index ${hint}`);
  if (wanted?.complete) return planWith(fitOf(wanted, constraints, sort), constraints);
  let best = fitOf(primary, constraints, sort);
  for (const index of indexes) {
    if (!index.complete || !servesSparse(index, constraints)) continue;
    const fit = fitOf(index, constraints, sort);
    if (fit.score > best.score) best = fit;
  }
  return planWith(best, constraints);
}

/** A sparse index lacks the documents without any of its fields: it serves only filters that exclude them. */
function servesSparse(index: Candidate, { byPath }: Constraints): boolean {
  if (!index.sparse) return true;
  return index.fields.some(({ path }) => {
    const constraint = byPath.get(path);
    if (!constraint) return false;
    if (constraint.lower !== undefined || constraint.upper !== undefined) return true;
    return constraint.equal?.every((value) => value !== null) ?? false;
  });
}

/** How well an index serves a filter and an order. */
interface Fit<C extends Candidate> {
  readonly index: C;
  /** How many of its first fields the filter says the values of. */
  readonly equal: number;
  readonly range: Constraint | undefined;
  readonly order: Pick<Plan<C>, "sorted" | "merged" | "reverse">;
  readonly score: number;
}

function fitOf<C extends Candidate>(index: C, { byPath }: Constraints, sort: readonly SortField[]): Fit<C> {
  let points = 1;
  let equal = 0;
  for (; equal < index.fields.length; equal++) {
    const values = byPath.get(index.fields[equal]?.path as string)?.equal;
    if (!values || (points > 1 && values.length * points > MAX_POINTS)) break;
    points *= values.length;
  }
  const range = rangeOn(index, equal, byPath);
  const order = orderOf(index, equal, points, sort, byPath);
  const whole = index.unique && equal === index.fields.length;
  const score =
    (whole ? 100 : 0) +
    equal * 10 +
    (range ? 5 : 0) +
    (sort.length > 0 && order.sorted ? 6 : 0) -
    index.fields.length / 10;
  return { index, equal, range, order, score };
}

/** Makes the keys of the index that fits best, and of no other. */
function planWith<C extends Candidate>({ index, equal, range, order }: Fit<C>, constraints: Constraints): Plan<C> {
  const { byPath, inexact } = constraints;
  let points: Buffer[] = [Buffer.alloc(0)];
  for (const [at, { path }] of index.fields.slice(0, equal).entries()) {
    const parts = distinct((byPath.get(path)?.equal ?? []).map((value) => index.part(at, value)));
    points = points.flatMap((point) => parts.map((part) => Buffer.concat([point, part])));
  }
  const covered = coveredBy(index, equal, range !== undefined, constraints);
  return {
    index,
    equal,
    ranges: points.map((prefix) => ({
      prefix,
      ...(range ? between(prefix, range, index.fields[equal]?.descending ?? false) : beginningWith(prefix)),
    })),
    ...order,
    covered,
    exact: inexact.size === 0 && byPath.size === covered.size,
    repeats: index.isMultiple,
    full: equal === 0 && !range,
  };
}

/** An open end of a unique index holds its bound all the same, because nothing follows it. */
function coveredBy(
  index: Candidate,
  equal: number,
  isRange: boolean,
  { byPath, inexact }: Constraints,
): ReadonlySet<string> {
  const covered = index.fields.slice(0, isRange ? equal + 1 : equal).filter(({ path }, i) => {
    const { equal: values, lower, upper, lowerOpen, upperOpen } = byPath.get(path) ?? {};
    if (inexact.has(path)) return false;
    if (i < equal) return lower === undefined && upper === undefined;
    return values === undefined && index.isRegular(i) && !(index.unique && (lowerOpen || upperOpen));
  });
  return new Set(covered.map(({ path }) => path));
}

/** On an array the two bounds may be met by two elements, so that only one of them narrows. */
function rangeOn(index: Candidate, field: number, byPath: Constraints["byPath"]): Constraint | undefined {
  const constraint = byPath.get(index.fields[field]?.path ?? "");
  if (constraint?.lower === undefined && constraint?.upper === undefined) return undefined;
  if (index.isRegular(field) || constraint.lower === undefined) return constraint;
  return { lower: constraint.lower, ...(constraint.lowerOpen && { lowerOpen: true }) };
}

function orderOf(
  index: Candidate,
  equal: number,
  points: number,
  sort: readonly SortField[],
  byPath: Constraints["byPath"],
): { sorted: boolean; merged: boolean; reverse: boolean } {
  const unsorted = { sorted: sort.length === 0, merged: false, reverse: false };
  const constant = new Set(
    index.fields
      .slice(0, equal)
      .filter(({ path }, i) => index.isRegular(i) && byPath.get(path)?.equal?.length === 1)
      .map(({ path }) => path),
  );
  const wanted = sort.filter(({ path }) => !constant.has(path));
  const rest = index.fields.slice(equal).map(({ path, descending }, i) => ({ path, descending, at: equal + i }));
  if (wanted.length === 0) return { ...unsorted, sorted: true };
  if (points > MAX_MERGED) return unsorted;
  let reverse: boolean | undefined;
  for (const [i, { path, descending }] of wanted.entries()) {
    const field = rest[i] ?? tieBreak(index, i - rest.length);
    // Of several ranges of a unique index, equal rests may be of two documents.
    if (field === "none left" && points > 1 && index.unique) return unsorted;
    if (field === "none left") break;
    if (!field || field.path !== path || (field.at >= 0 && !index.isRegular(field.at))) return unsorted;
    const against = field.descending !== descending;
    if (reverse !== undefined && reverse !== against) return unsorted;
    reverse = against;
  }
  return { sorted: true, merged: points > 1, reverse: reverse ?? false };
}

/** After its fields a key is ordered by the id; in a unique index nothing is left to order. */
function tieBreak(index: Candidate, past: number): { path: string; descending: boolean; at: number } | "none left" {
  if (index.unique || past > 0) return "none left";
  return { path: "_id", descending: index.fields.at(-1)?.descending ?? false, at: -1 };
}

function distinct(parts: Buffer[]): Buffer[] {
  if (parts.length === 1) return parts;
  return [...new Map(parts.map((part) => [part.toString("latin1"), part])).values()];
}
