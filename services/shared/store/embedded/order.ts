import type { Document, Sort } from "mongodb";
import { inverted, wholeComponentOf } from "./keys.js";
import { valuesAt } from "./paths.js";

/** One path of a sort, and its direction. */
export interface SortField {
  readonly path: string;
  readonly descending: boolean;
}

/** Reads every spelling of a sort that the driver accepts. */
export function sortFieldsOf(sort: Sort | undefined): SortField[] {
  if (!sort) return [];
  if (typeof sort === "string") return [fieldOf(sort, 1)];
  if (sort instanceof Map) return [...sort].map(([path, direction]) => fieldOf(path, direction));
  if (!Array.isArray(sort)) return Object.entries(sort).map(([path, direction]) => fieldOf(path, direction));
  if (sort.length === 2 && typeof sort[0] === "string" && isDirection(sort[1])) return [fieldOf(sort[0], sort[1])];
  return (sort as readonly (string | readonly [string, unknown])[]).map((item) =>
    typeof item === "string" ? fieldOf(item, 1) : fieldOf(item[0], item[1]),
  );
}

/** Sorts in memory; of an array the least element counts, or the greatest when descending. */
export function sortDocuments(documents: Document[], fields: readonly SortField[]): Document[] {
  const paths = fields.map(({ path, descending }) => ({ path: path.split("."), descending }));
  return documents
    .map((document) => ({ document, key: Buffer.concat(paths.map((field) => partOf(document, field))) }))
    .sort((a, b) => Buffer.compare(a.key, b.key))
    .map(({ document }) => document);
}

function partOf(document: Document, field: { path: string[]; descending: boolean }): Buffer {
  const sign = field.descending ? -1 : 1;
  const parts = valuesAt(document, field.path).values.map(wholeComponentOf);
  const part = parts.reduce((best, next) => (Buffer.compare(next, best) * sign < 0 ? next : best));
  return field.descending ? inverted(part) : part;
}

function fieldOf(path: string, direction: unknown): SortField {
  if (!isDirection(direction)) throw new TypeError(`sort by ${path} must be 1 or -1`);
  return { path, descending: direction === -1 || direction === "desc" || direction === "descending" };
}

function isDirection(value: unknown): boolean {
  return [1, -1, "asc", "desc", "ascending", "descending"].includes(value as string | number);
}
