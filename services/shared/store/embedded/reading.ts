import type { Document } from "mongodb";
import type { DocumentReaders } from "./document-readers.js";
import { EVERY_FIELD, type Fields } from "./fields.js";
import { matcherOf } from "./matcher.js";

/** Reads a document from its bytes; undefined if it does not match. */
export type Reading = (bytes: Buffer) => Document | undefined;

/** Reads of documents what a filter is about, and of those that match what is asked for: the rest of them is never decoded. */
export function readingOf(readers: DocumentReaders, filter: Document, fields: Fields): Reading {
  const reader = readers.of(fields);
  if (Object.keys(filter).length === 0) return (bytes) => reader.read(bytes) as Document;
  const names = new Set<string>();
  const tested = readers.of(namesIn(filter, names) ? { names: [...names].sort(), areLeftOut: false } : EVERY_FIELD);
  const matches = matcherOf(filter);
  return (bytes) => (matches(tested.read(bytes) as Document) ? (reader.read(bytes) as Document) : undefined);
}

/** Collects the fields that a filter is about. @returns whether these are all that it is about. */
function namesIn(filter: Document, names: Set<string>): boolean {
  return Object.entries(filter).every(([path, condition]) => {
    if (!path.startsWith("$")) return names.add(path.split(".")[0] as string);
    const isOfFilters = path === "$and" || path === "$or" || path === "$nor";
    return isOfFilters && Array.isArray(condition) && condition.every((one) => namesIn(one, names));
  });
}
