/** One stored element: a domain object, observable, relationship or meta object. */
export interface Thing {
  readonly id: string;
  /** Changes when what it is made of changes, such as a name. */
  standardId: string;
  readonly type: string;
  /** Its type and every abstract one above it. */
  readonly types: readonly string[];
  attributes: Record<string, unknown>;
  refs: Refs;
  readonly ends?: Ends;
  readonly createdAt: string;
  updatedAt: string;
  readonly creator: string;
  /** The draft it lives in; live where undefined. */
  readonly draft?: string | undefined;
}

/** The type of a sighting. */
export const SIGHTING = "stix-sighting-relationship";

/** Ids of what it refers to. */
export interface Refs {
  author: string | undefined;
  markings: string[];
  labels: string[];
  externalReferences: string[];
  killChainPhases: string[];
  objects: string[];
}

/** The two ends of a relationship. */
export interface Ends {
  readonly from: string;
  readonly to: string;
  readonly relation: string;
}

/** References of an element that has none. */
export const noRefs = (): Refs => ({
  author: undefined,
  markings: [],
  labels: [],
  externalReferences: [],
  killChainPhases: [],
  objects: [],
});

/** An attribute that is a text; undefined for another. */
export const text = (thing: Thing, attribute: string): string | undefined => {
  const value = thing.attributes[attribute];
  return typeof value === "string" ? value : undefined;
};

/** An attribute that is a list; empty for another. */
export const texts = (thing: Thing, attribute: string): readonly string[] => {
  const value = thing.attributes[attribute];
  return Array.isArray(value) ? (value as string[]) : [];
};

/** Names besides the main one. */
export const aliasesOf = (thing: Thing): readonly string[] => [
  ...texts(thing, "aliases"),
  ...texts(thing, "x_opencti_aliases"),
];
