import type { Document } from "mongodb";
import { queryOf } from "./mingo.js";

/** Says whether a document matches a filter. */
export type Matcher = (document: Document) => boolean;

const everything: Matcher = () => true;

/**
 * Whether a document matches a filter, as MongoDB says. Plain equalities on
 * top-level fields, the filters of every hot path, are compared directly.
 */
export function matcherOf(filter: Document): Matcher {
  const entries = Object.entries(filter);
  if (entries.length === 0) return everything;
  if (entries.every(([path, value]) => isPlainPath(path) && isPlainValue(value)))
    return (document) => entries.every(([path, value]) => holds(document[path], value));
  const query = queryOf(filter);
  return (document) => query.test(document);
}

function isPlainPath(path: string): boolean {
  return !path.startsWith("$") && !path.includes(".");
}

function isPlainValue(value: unknown): boolean {
  return typeof value === "string" || typeof value === "boolean" || (typeof value === "number" && !Number.isNaN(value));
}

function holds(field: unknown, value: unknown): boolean {
  return field === value || (Array.isArray(field) && field.includes(value));
}
