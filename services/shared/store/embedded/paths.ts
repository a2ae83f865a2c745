import type { Document } from "mongodb";
import { EMPTY } from "./keys.js";

/** What a dotted path leads to in one document. */
export interface PathValues {
  /** At least one value: null where nothing is, EMPTY for an empty array. */
  readonly values: unknown[];
  /** The path went through or ended at an array. */
  many: boolean;
  /** Nothing at all is there. */
  missing: boolean;
}

/**
 * Follows a path as MongoDB's multikey indexes do: through each element of an
 * array on the way, and into the elements of an array at the end.
 */
export function valuesAt(document: Document, path: readonly string[]): PathValues {
  const found: PathValues = { values: [], many: false, missing: true };
  collect(document, path, 0, found);
  return found;
}

/** Whether a value is a document inside a document: no array, date or binary. */
export function isObject(value: unknown): value is Document {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Date) &&
    !ArrayBuffer.isView(value)
  );
}

function collect(node: unknown, path: readonly string[], depth: number, found: PathValues): void {
  if (depth === path.length) {
    end(node, found);
    return;
  }
  const name = path[depth] as string;
  if (Array.isArray(node)) {
    found.many = true;
    if (node.length === 0) found.values.push(null);
    for (const element of node) collect(element, path, depth, found);
    if (/^\d+$/.test(name)) collect(node[Number(name)], path, depth + 1, found);
    return;
  }
  collect(isObject(node) && Object.hasOwn(node, name) ? node[name] : undefined, path, depth + 1, found);
}

function end(node: unknown, found: PathValues): void {
  if (node !== undefined) found.missing = false;
  if (!Array.isArray(node)) {
    found.values.push(node ?? null);
    return;
  }
  found.many = true;
  if (node.length === 0) found.values.push(EMPTY);
  else found.values.push(...node);
}
