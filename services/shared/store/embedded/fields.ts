import type { Document } from "mongodb";

/** Fields of a document that are read: those of these names, or all others. */
export interface Fields {
  readonly names: readonly string[];
  readonly areLeftOut: boolean;
}

/** All of them. */
export const EVERY_FIELD: Fields = { names: [], areLeftOut: true };

/** Whether a field is one of them. */
export function isOf({ names, areLeftOut }: Fields, name: string): boolean {
  return names.includes(name) !== areLeftOut;
}

/** These fields of a document. */
export function only(document: Document, fields: Fields): Document {
  const taken: Document = {};
  for (const name of Object.keys(document)) if (isOf(fields, name)) taken[name] = document[name];
  return taken;
}
