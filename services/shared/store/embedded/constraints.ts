import type { Document } from "mongodb";
import { type Bounds, isOrdered, isScalar, type Scalar, sameType } from "./keys.js";
import { isObject } from "./paths.js";

/** What a filter demands of one path, as far as an index can serve it. */
export interface Constraint extends Bounds {
  readonly equal?: readonly Scalar[];
}

/** What a filter demands, by path. */
export interface Constraints {
  readonly byPath: ReadonlyMap<string, Constraint>;
  /** The paths, and operators such as $or, of which more is demanded than these equalities and bounds. */
  readonly inexact: ReadonlySet<string>;
}

interface Reading extends Constraints {
  readonly byPath: Map<string, Constraint>;
  readonly inexact: Set<string>;
}

/**
 * Reads the necessary conditions out of a filter. Each alone holds for every
 * document that matches; what is not understood here is left to the matcher.
 */
export function constraintsOf(filter: Document): Constraints {
  const reading: Reading = { byPath: new Map(), inexact: new Set() };
  read(filter, "", reading);
  return reading;
}

/** What is left of a filter without its conditions on some paths. */
export function withoutPaths(filter: Document, paths: ReadonlySet<string>): Document {
  const left: Document = {};
  for (const [key, condition] of Object.entries(filter)) {
    if (key === "$and" && Array.isArray(condition)) {
      const branches = condition
        .map((branch) => withoutPaths(branch, paths))
        .filter((one) => Object.keys(one).length > 0);
      if (branches.length > 0) left.$and = branches;
    } else if (!paths.has(key)) left[key] = condition;
  }
  return left;
}

/** A condition such as { $gt: 1 }, as opposed to a value to be equal to. */
export function isOperators(value: unknown): value is Document {
  return isObject(value) && Object.keys(value).some((key) => key.startsWith("$"));
}

function read(filter: Document, prefix: string, reading: Reading): void {
  for (const [key, condition] of Object.entries(filter)) {
    if (key === "$and" && Array.isArray(condition)) for (const branch of condition) read(branch, prefix, reading);
    else if (key.startsWith("$")) reading.inexact.add(key);
    else if (!readPath(prefix + key, condition, reading) || prefix !== "") reading.inexact.add(prefix + key);
  }
}

/** Whether all that the condition says was understood. */
function readPath(path: string, condition: unknown, reading: Reading): boolean {
  const { byPath } = reading;
  if (isScalar(condition)) return demandEqual(path, [condition], byPath);
  if (!isOperators(condition)) return false;
  let exact = true;
  for (const [operator, operand] of Object.entries(condition)) {
    if (operator === "$eq" && isScalar(operand)) exact = demandEqual(path, [operand], byPath) && exact;
    else if (operator === "$in" && Array.isArray(operand) && operand.every(isScalar))
      exact = demandEqual(path, [...new Set(operand)], byPath) && exact;
    else if (operator === "$gt" || operator === "$gte")
      exact = demandBound(path, { lower: operand, lowerOpen: operator === "$gt" }, byPath) && exact;
    else if (operator === "$lt" || operator === "$lte")
      exact = demandBound(path, { upper: operand, upperOpen: operator === "$lt" }, byPath) && exact;
    else {
      exact = false;
      if (operator === "$elemMatch" && isOperators(operand)) readPath(path, operand, reading);
      else if (operator === "$elemMatch" && isObject(operand)) read(operand, `${path}.`, reading);
    }
  }
  return exact;
}

function demandEqual(path: string, values: readonly Scalar[], byPath: Map<string, Constraint>): boolean {
  const constraint = byPath.get(path);
  if (constraint?.equal !== undefined) return false;
  byPath.set(path, { ...constraint, equal: values });
  return constraint === undefined && !values.includes(null) && !path.includes(".");
}

/** Exact for strings that keys give the order of; NaN, for one, is ordered but neither above nor below. */
function demandBound(
  path: string,
  { lower, upper, ...open }: Document & Pick<Bounds, "lowerOpen" | "upperOpen">,
  byPath: Map<string, Constraint>,
): boolean {
  const bound: unknown = lower ?? upper;
  if (!isScalar(bound) || bound === null || typeof bound === "boolean") return false;
  const constraint = byPath.get(path) ?? {};
  const [same, other] =
    lower === undefined ? [constraint.upper, constraint.lower] : [constraint.lower, constraint.upper];
  if (same !== undefined || (other !== undefined && !sameType(other, bound))) return false;
  byPath.set(path, { ...constraint, ...open, [lower === undefined ? "upper" : "lower"]: bound });
  return constraint.equal === undefined && typeof bound === "string" && isOrdered(bound) && !path.includes(".");
}
