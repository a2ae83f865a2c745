import { update } from "mingo/updater";
import type { Document } from "mongodb";
import { isOperators } from "./constraints.js";
import { MINGO } from "./mingo.js";
import { storable } from "./values.js";

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

/** Whether an update sets or removes whole fields and nothing in them, so that a copy of the document may share them. */
export function isOfWholeFields(operators: Document): boolean {
  return Object.entries(operators).every(([operator, fields]) => isDirect(operator, Object.keys(fields)));
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
  for (const [operator, given] of Object.entries(operators)) {
    const { _id, ...fields } = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
    if (_id !== undefined) giveId(document, operator, _id);
    if (Object.keys(fields).length === 0 || applyDirectly(document, operator, fields)) continue;
    // The filter is read only to find the element that a positional $ stands for.
    const positional = Object.keys(fields).some((path) => /\.\$(\.|$)/.test(path));
    update(document, { [operator]: fields }, arrayFilters ?? [], positional ? filter : {}, {
      cloneMode: "none",
      queryOptions: MINGO,
    });
  }
}

/** Applies $set or $unset of top-level fields, of which most updates consist; returns false for anything else. */
function applyDirectly(document: Document, operator: string, fields: Document): boolean {
  const names = Object.keys(fields);
  if (!isDirect(operator, names)) return false;
  for (const name of names) {
    if (operator === "$set") document[name] = fields[name];
    else delete document[name];
  }
  return true;
}

function isDirect(operator: string, names: readonly string[]): boolean {
  return (operator === "$set" || operator === "$unset") && !names.some((path) => /[.$]/.test(path));
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
