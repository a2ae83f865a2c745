import type { Document } from "mongodb";
import { EVERY_FIELD, type Fields, only } from "./fields.js";
import { queryOf } from "./mingo.js";

/** Makes of a document what was asked for of it. */
export type Projector = (document: Document) => Document;

/**
 * What a projection makes of documents, as MongoDB says; undefined where it
 * leaves them as they are. Top-level fields, which are all that lists ask for,
 * are taken or left out directly.
 */
export function projectorOf(projection: Document | undefined): Projector | undefined {
  const fields = fieldsOf(projection);
  if (fields === EVERY_FIELD) return undefined;
  if (fields !== undefined) return (document) => only(document, fields);
  return (document) => queryOf({}).find<Document>([document], projection).all()[0] as Document;
}

/** The fields that a projection takes, whole; undefined where it makes more of documents than that. */
export function fieldsOf(projection: Document | undefined): Fields | undefined {
  const fields = Object.entries(projection ?? {});
  if (fields.length === 0) return EVERY_FIELD;
  if (!fields.every(([path, how]) => !/[.$]/.test(path) && (isIn(how) || isOut(how)))) return undefined;
  const [taken, leftOut] = [fields.filter(([, how]) => isIn(how)), fields.filter(([, how]) => isOut(how))];
  const [names, others] = [taken, leftOut].map((some) => some.map(([name]) => name)) as [string[], string[]];
  if (names.length === 0) return { names: others, areLeftOut: true };
  if (others.some((name) => name !== "_id")) return undefined;
  return { names: others.length > 0 || names.includes("_id") ? names : ["_id", ...names], areLeftOut: false };
}

/** Whether nothing but the id is asked for. */
export function isOnlyId(projection: Document | undefined): boolean {
  return projection !== undefined && Object.keys(projection).join() === "_id" && isIn(projection._id);
}

/** The fields of a document that were asked for. */
export function projected<D extends Document>(document: D | null, projection: Document | undefined): D | null {
  const projector = document === null ? undefined : projectorOf(projection);
  return projector === undefined ? document : (projector(document as Document) as D);
}

function isIn(how: unknown): boolean {
  return how === 1 || how === true;
}

function isOut(how: unknown): boolean {
  return how === 0 || how === false;
}
