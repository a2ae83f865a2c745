import type { Document, Sort } from "mongodb";
import { isSame } from "../../same.js";
import type { Records } from "./records.js";
import type { Stored } from "./stored.js";
import { isOfWholeFields, updated, withWholeFields } from "./update.js";

/** What may be chosen of an update. */
export interface UpdateOptions {
  readonly upsert?: boolean;
  readonly sort?: Sort;
  readonly arrayFilters?: Document[];
}

/** What an update makes of a document; undefined if that is the same. */
export function nextVersion(
  records: Records,
  before: Stored,
  { filter, update, arrayFilters }: { readonly filter: Document; readonly update: Document } & UpdateOptions,
): Stored | undefined {
  if (isOfWholeFields(update)) return withWholeFields(before, update, filter);
  const draft = records.byId(before._id) as Stored;
  const after = updated(draft, update, { filter, arrayFilters });
  return isSame(before, after) ? undefined : after;
}

/** An update that was decided without a transaction. */
export interface Replaced {
  readonly before: Stored;
  /** undefined if nothing changes. */
  readonly after: Stored | undefined;
  /** Resolves when it is on disk. */
  readonly written: Promise<unknown> | undefined;
}

/**
 * Updates a document that the filter names by its id, without a transaction: undefined if no such document matches, if
 * somebody else may be writing it, or if an index has to be written too. What is on disk is then what a transaction would
 * find, because nothing runs between its reading and its writing.
 */
export function replaced(
  records: Records,
  filter: Document,
  update: Document,
  options: UpdateOptions,
): Replaced | undefined {
  const { _id } = filter;
  if (typeof _id !== "string" || !records.isSettled(_id)) return undefined;
  const before = records.direct(filter);
  if (!before) return undefined;
  const after = nextVersion(records, before, { filter, update, ...options });
  if (after === undefined) return { before, after, written: undefined };
  const written = records.replace(before, after);
  return written && { before, after, written };
}
