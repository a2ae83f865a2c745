import type { Document } from "mongodb";
import { isOperators } from "./constraints.js";
import { queryOf } from "./mingo.js";

/** Says whether a document matches a filter. */
export type Matcher = (document: Document) => boolean;

/** Says whether one value, which is no array, meets a condition. */
type Condition = (value: unknown) => boolean;

/** Texts that are compared one by one: to make a set of them takes longer. */
const FEW = 8;

const everything: Matcher = () => true;

/**
 * Whether a document matches a filter, as MongoDB says. What the filters of
 * every hot path are made of is compared directly: equalities, texts of a set
 * and patterns on top-level fields, all of them or one of them.
 */
export function matcherOf(filter: Document): Matcher {
  const direct = directly(filter);
  if (direct !== undefined) return direct;
  // Compiled for the first document: most questions that are asked again and again, such as what is due, find none.
  let query: ReturnType<typeof queryOf> | undefined;
  return (document) => {
    query ??= queryOf(filter);
    return query.test(document);
  };
}

function directly(filter: Document): Matcher | undefined {
  const matchers: Matcher[] = [];
  for (const [path, condition] of Object.entries(filter)) {
    const matcher = partOf(path, condition);
    if (matcher === undefined) return undefined;
    matchers.push(matcher);
  }
  if (matchers.length <= 1) return matchers[0] ?? everything;
  return (document) => matchers.every((matches) => matches(document));
}

function partOf(path: string, condition: unknown): Matcher | undefined {
  if (path === "$and" || path === "$or") {
    if (!Array.isArray(condition) || condition.length === 0) return undefined;
    const branches = condition.map(directly);
    if (!branches.every((branch) => branch !== undefined)) return undefined;
    if (path === "$and") return (document) => branches.every((matches) => matches(document));
    return (document) => branches.some((matches) => matches(document));
  }
  if (path.startsWith("$") || path.includes(".")) return undefined;
  const meets = conditionOf(condition);
  if (meets === undefined) return undefined;
  return (document) => {
    const field: unknown = document[path];
    return Array.isArray(field) ? field.some(meets) : meets(field);
  };
}

function conditionOf(condition: unknown): Condition | undefined {
  if (isPlainValue(condition)) return (value) => value === condition;
  if (!isOperators(condition)) return undefined;
  const { $in, $gt, $regex, $options } = condition;
  const names = Object.keys(condition);
  switch (names.length === 1 ? names[0] : names.sort().join()) {
    case "$in": {
      if (!Array.isArray($in) || !$in.every((value) => typeof value === "string")) return undefined;
      if ($in.length <= FEW) return (value) => ($in as unknown[]).includes(value);
      const wanted: ReadonlySet<unknown> = new Set($in);
      return (value) => wanted.has(value);
    }
    case "$gt":
      return $gt instanceof Date ? (value) => value instanceof Date && value.getTime() > $gt.getTime() : undefined;
    case "$options,$regex": {
      if (typeof $regex !== "string" || $options !== "i") return undefined;
      const wanted = new RegExp($regex, "i");
      return (value) => typeof value === "string" && wanted.test(value);
    }
    default:
      return undefined;
  }
}

function isPlainValue(value: unknown): boolean {
  return typeof value === "string" || typeof value === "boolean" || (typeof value === "number" && !Number.isNaN(value));
}
