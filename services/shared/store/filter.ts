import type { Document } from "mongodb";
import { v7 as uuid } from "uuid";

/** Operators that neither backend may be asked for: they compute, and the two would disagree. */
const REFUSED = new Set(["$expr", "$where", "$function", "$jsonSchema", "$text", "$near"]);

/**
 * Refuses a filter with an undefined value: one backend would drop the
 * condition and match every document, which a check of rights must never do.
 */
export function refuseUndefined(filter: Document): void {
  for (const [name, condition] of Object.entries(filter)) {
    if (condition === undefined) throw new TypeError(`the filter on ${name} is undefined`);
    if (REFUSED.has(name)) throw new TypeError(`${name} is not supported in a filter`);
    if (Array.isArray(condition)) for (const item of condition) refuseInside(item);
    else refuseInside(condition);
  }
}

function refuseInside(condition: unknown): void {
  if (typeof condition !== "object" || condition === null) return;
  if (condition instanceof Date || condition instanceof RegExp || ArrayBuffer.isView(condition)) return;
  refuseUndefined(condition);
}

/** An update for an upsert that names the new document's id, because ids are strings. */
export function withUpsertId(filter: Document, update: Document): Document {
  const set: Document = { ...update.$set, ...update.$setOnInsert };
  if (filter._id !== undefined || set._id !== undefined) return update;
  return { ...update, $setOnInsert: { ...update.$setOnInsert, _id: uuid() } };
}
