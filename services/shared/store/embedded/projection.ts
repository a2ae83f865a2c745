import type { Document } from "mongodb";
import { queryOf } from "./mingo.js";

/** Makes of a document what was asked for of it. */
export type Projector = (document: Document) => Document;

/**
 * What a projection makes of documents, as MongoDB says; undefined where it
 * leaves them as they are. Top-level fields, which are all that lists ask for,
 * are taken or left out directly.
 */
export function projectorOf(projection: Document | undefined): Projector | undefined {
  const fields = Object.entries(projection ?? {});
  if (projection === undefined || fields.length === 0) return undefined;
  const plain = fields.every(([path, how]) => !/[.$]/.test(path) && (isIn(how) || isOut(how)));
  if (plain && fields.every(([, how]) => isOut(how))) return (document) => without(document, projection);
  if (plain && fields.every(([path, how]) => isIn(how) || path === "_id"))
    return (document) => only(document, projection);
  return (document) => queryOf({}).find<Document>([document], projection).all()[0] as Document;
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

function without(document: Document, projection: Document): Document {
  const left: Document = {};
  for (const name of Object.keys(document)) if (!Object.hasOwn(projection, name)) left[name] = document[name];
  return left;
}

function only(document: Document, projection: Document): Document {
  const taken: Document = {};
  for (const name of Object.keys(document))
    if (name === "_id" ? !isOut(projection._id) : Object.hasOwn(projection, name)) taken[name] = document[name];
  return taken;
}
