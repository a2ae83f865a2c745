import type { Document } from "mongodb";
import { isScalar, type Scalar, sameType } from "./keys.js";
import { isObject } from "./paths.js";

/** What a filter demands of one path, as far as an index can serve it. */
export interface Constraint {
  equal?: readonly Scalar[];
  lower?: Scalar;
  upper?: Scalar;
}

/** What a filter demands, by path. */
export interface Constraints {
  readonly byPath: ReadonlyMap<string, Constraint>;
  /** Nothing is demanded but the equalities: an index over them needs no second look. */
  readonly exact: boolean;
}

/**
 * Reads the necessary conditions out of a filter. Each alone holds for every
 * document that matches; what is not understood here is left to the matcher.
 */
export function constraintsOf(filter: Document): Constraints {
  const byPath = new Map<string, Constraint>();
  const exact = read(filter, "", byPath);
  return { byPath, exact };
}

/** A condition such as { $gt: 1 }, as opposed to a value to be equal to. */
export function isOperators(value: unknown): value is Document {
  return isObject(value) && Object.keys(value).some((key) => key.startsWith("$"));
}

function read(filter: Document, prefix: string, byPath: Map<string, Constraint>): boolean {
  let exact = true;
  for (const [key, condition] of Object.entries(filter)) {
    if (key === "$and" && Array.isArray(condition)) {
      for (const branch of condition) exact = read(branch, prefix, byPath) && exact;
    } else if (key.startsWith("$")) exact = false;
    else exact = readPath(prefix + key, condition, byPath) && exact;
  }
  return exact && prefix === "";
}

function readPath(path: string, condition: unknown, byPath: Map<string, Constraint>): boolean {
  if (isScalar(condition)) return demandEqual(path, [condition], byPath);
  if (!isOperators(condition)) return false;
  let exact = true;
  for (const [operator, operand] of Object.entries(condition)) {
    if (operator === "$eq" && isScalar(operand)) exact = demandEqual(path, [operand], byPath) && exact;
    else if (operator === "$in" && Array.isArray(operand) && operand.every(isScalar))
      exact = demandEqual(path, operand, byPath) && exact;
    else {
      exact = false;
      if (operator === "$gt" || operator === "$gte") demandBound(path, "lower", operand, byPath);
      else if (operator === "$lt" || operator === "$lte") demandBound(path, "upper", operand, byPath);
      else if (operator === "$elemMatch" && isOperators(operand)) readPath(path, operand, byPath);
      else if (operator === "$elemMatch" && isObject(operand)) read(operand, `${path}.`, byPath);
    }
  }
  return exact;
}

function demandEqual(path: string, values: readonly Scalar[], byPath: Map<string, Constraint>): boolean {
  const constraint = constraintAt(path, byPath);
  if (constraint.equal !== undefined) return false;
  constraint.equal = values;
  return !values.includes(null) && !path.includes(".");
}

function demandBound(path: string, side: "lower" | "upper", bound: unknown, byPath: Map<string, Constraint>): void {
  if (!isScalar(bound) || bound === null || typeof bound === "boolean") return;
  const constraint = constraintAt(path, byPath);
  const other = side === "lower" ? constraint.upper : constraint.lower;
  if (constraint[side] === undefined && (other === undefined || sameType(other, bound))) constraint[side] = bound;
}

function constraintAt(path: string, byPath: Map<string, Constraint>): Constraint {
  const constraint = byPath.get(path) ?? {};
  byPath.set(path, constraint);
  return constraint;
}
