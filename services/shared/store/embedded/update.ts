import { update } from "mingo/updater";
import type { Document } from "mongodb";
import { isSame } from "../../same.js";
import { isOperators } from "./constraints.js";
import { MINGO } from "./mingo.js";
import { storable, storableField } from "./values.js";

/**
 * Applies update operators to a document of the caller's and returns what is
 * to be stored. Throws when the update would change the id, as MongoDB does.
 */
export function updated(
  document: Document,
  operators: Document,
  options: { readonly arrayFilters?: Document[] | undefined; readonly filter: Document; readonly inserting?: boolean },
): Document & { _id: string } {
  refuseReplacement(operators);
  const { $setOnInsert, ...rest } = operators;
  if (options.inserting && $setOnInsert) apply(document, { $set: $setOnInsert }, options);
  apply(document, rest, options);
  return storable(document);
}

/** Whether an update replaces or removes whole fields and nothing in them. */
export function isOfWholeFields(operators: Document): boolean {
  return Object.entries(operators).every(
    ([operator, fields]) => DIRECT[operator] !== undefined && Object.keys(fields).every(isTopLevel),
  );
}

/**
 * The same as {@link updated} for such an update; undefined if no field changes. The document stays as it is, and what
 * is returned shares its other fields.
 */
export function withWholeFields(
  document: Document & { _id: string },
  operators: Document,
  filter: Document,
): (Document & { _id: string }) | undefined {
  refuseReplacement(operators);
  const after = { ...document };
  apply(after, operators, { filter });
  let changes = false;
  for (const fields of Object.values(operators)) {
    for (const name of Object.keys(fields)) {
      if (name in after) after[name] = storableField(after[name], name);
      changes ||= !isSame(document[name], after[name]);
    }
  }
  return changes ? after : undefined;
}

/** What an upsert starts from: the filter's equalities. */
export function seedOf(filter: Document): Document {
  const seed: Document = {};
  plant(seed, filter);
  return seed;
}

function plant(seed: Document, filter: Document): void {
  for (const [path, condition] of Object.entries(filter)) {
    if (path === "$and") for (const branch of condition as Document[]) plant(seed, branch);
    else if (path.startsWith("$")) continue;
    else if (!isOperators(condition)) set(seed, path, condition);
    else if ("$eq" in condition) set(seed, path, condition.$eq);
  }
}

function set(seed: Document, path: string, value: unknown): void {
  if (path === "_id") seed._id = value;
  else update(seed, { $set: { [path]: value } }, [], {}, { cloneMode: "none", queryOptions: MINGO });
}

function apply(
  document: Document,
  operators: Document,
  { arrayFilters, filter }: { readonly arrayFilters?: Document[] | undefined; readonly filter: Document },
): void {
  const others: Document = {};
  for (const [operator, given] of Object.entries(operators)) {
    const { _id } = given;
    if (_id !== undefined) giveId(document, operator, _id);
    const rest = withoutDirect(document, operator, given);
    if (rest !== undefined) others[operator] = rest;
  }
  if (Object.keys(others).length === 0) return;
  // The filter is read only to find the element that a positional $ stands for.
  const positional = Object.values(others).some((fields) =>
    Object.keys(fields).some((path) => /\.\$(\.|$)/.test(path)),
  );
  // In one call: mingo makes its table of operators for each.
  update(document, others, arrayFilters ?? [], positional ? filter : {}, { cloneMode: "none", queryOptions: MINGO });
}

/**
 * Applies what an operator does to top-level fields where that is plain, as it is in most updates; returns the rest, if
 * there is any. What is undefined is not given.
 */
function withoutDirect(document: Document, operator: string, given: Document): Document | undefined {
  const apply = DIRECT[operator];
  let rest: Document | undefined;
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || name === "_id") continue;
    if (apply !== undefined && isTopLevel(name) && apply(document, name, value)) continue;
    rest ??= {};
    rest[name] = value;
  }
  return rest;
}

/** Operators of one field; each returns false, and has changed nothing, for what mingo is to do. */
const DIRECT: Readonly<Record<string, (document: Document, name: string, value: unknown) => boolean>> = {
  $set(document, name, value) {
    document[name] = value;
    return true;
  },
  $unset: (document, name) => delete document[name],
  $inc(document, name, value) {
    const before: unknown = document[name] === undefined ? 0 : document[name];
    if (typeof before !== "number" || typeof value !== "number") return false;
    document[name] = before + value;
    return true;
  },
  $min: (document, name, value) => keepFirst(document, name, value, -1),
  $max: (document, name, value) => keepFirst(document, name, value, 1),
};

/** Keeps the least (-1) or the greatest (1) of what is there and a value of the same type. */
function keepFirst(document: Document, name: string, value: unknown, direction: 1 | -1): boolean {
  const before: unknown = document[name];
  if (before === undefined) document[name] = value;
  else {
    const order = orderOf(before, value);
    if (order === undefined) return false;
    if (order === direction) document[name] = value;
  }
  return true;
}

/** Whether b is greater (1) than a, less (-1) or equal; undefined for what has no plain order. */
function orderOf(a: unknown, b: unknown): 1 | 0 | -1 | undefined {
  if (typeof a === "string" && typeof b === "string") return a < b ? 1 : a > b ? -1 : 0;
  const [before, after] = [numberOf(a), numberOf(b)];
  if (Number.isNaN(before) || Number.isNaN(after)) return undefined;
  if (a instanceof Date !== b instanceof Date) return undefined;
  return before < after ? 1 : before > after ? -1 : 0;
}

function numberOf(value: unknown): number {
  return typeof value === "number" ? value : value instanceof Date ? value.getTime() : Number.NaN;
}

function isTopLevel(path: string): boolean {
  return !path.includes(".") && !path.includes("$");
}

/** An id can be set once, when a document begins. */
function giveId(document: Document, operator: string, id: unknown): void {
  document._id ??= id;
  if (operator !== "$set" || document._id !== id) throw Object.assign(new Error("_id cannot be changed"), { code: 66 });
}

function refuseReplacement(operators: Document): void {
  const names = Object.keys(operators);
  if (names.length === 0 || names.some((name) => !name.startsWith("$")))
    throw new TypeError("an update must consist of operators such as $set");
}
