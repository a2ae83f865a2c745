/** A value as the platform's JSON has it. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** The values of one object, by their JSON names. */
export type Values = Readonly<Record<string, Json>>;

/** One object of a kind. */
export interface Entry {
  readonly id: string;
  /** Undefined for what all tenants share. */
  readonly tenant: string | undefined;
  /** The tenants that it is in, where there may be several. */
  readonly tenants?: readonly string[];
  readonly values: Values;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A field as it is stored, written and searched by. */
export interface Field {
  readonly type: "text" | "texts" | "number" | "flag" | "json";
  /** Refused where a write leaves it out or blank. */
  readonly required?: boolean;
  /** What is said of a write that leaves it out, in place of naming the field. */
  readonly missing?: string;
  /** The greatest number that it takes. */
  readonly max?: number;
  /** What a given value is stored as. @throws Refusal 400. */
  readonly made?: (given: Json, id: string, now: number) => Json;
  /** The words that it takes; another is refused without a reason. */
  readonly words?: readonly string[];
  /** What it is where a write leaves it out; null, or an empty list, where left out. */
  readonly initial?: Json;
  /** Set by the platform, not by writes. */
  readonly fixed?: boolean;
  readonly filter?: boolean;
  readonly sort?: boolean;
  /** Full text looks into it. */
  readonly search?: boolean;
}

/** What can be done with a kind: POST …/search, GET …, GET …/{id}, POST …/find, POST …, PUT …/{id}, DELETE …/{id}. */
export type Verb = "search" | "list" | "get" | "find" | "create" | "update" | "delete";

/** A kind of object that is no more than its fields: all its routes follow from this row alone. */
export interface Kind {
  /** Below /api, such as asset_groups. */
  readonly path: string;
  /** The JSON name of its id. */
  readonly id: string;
  readonly verbs: readonly Verb[];
  /** What reads need, after ACCESS_; open to everybody where left out. */
  readonly access?: string;
  /** What writes need, after MANAGE_ and DELETE_. */
  readonly manage?: string;
  readonly fields: Readonly<Record<string, Field>>;
  /** What its times are called before _created_at and _updated_at; none are answered where left out. */
  readonly times?: string;
  /** The members of the rows of a search beside the id, where they are not all. */
  readonly row?: readonly string[];
  /** The members of a read by id beside the id, where they are not all. */
  readonly one?: readonly string[];
  /** Reads by id leave out what is null. */
  readonly sparse?: boolean;
  /** In which form a write answers, where not with every member. */
  readonly answers?: Partial<Readonly<Record<Verb, "row" | "one">>>;
  /** What no change writes. */
  readonly keeps?: readonly string[];
  /** Its search may be told where rows without a value stand. */
  readonly placesNulls?: boolean;
  /** Marked as an entity that the interface listens to. */
  readonly listened?: boolean;
  /** "Element not found: …", with {id} for the id. */
  readonly unknown: string;
  /** Deleting what does not exist is a success. */
  readonly forgiving?: boolean;
  /** Where objects are made, where not at the path. */
  readonly creates?: string;
  /** Writes whose bad body is refused without a reason. */
  readonly silent?: readonly Verb[];
  /** The fields that no two objects of a tenant may share all of. */
  readonly unique?: readonly string[];
  /** The status of a deletion, where not 200. */
  readonly gone?: number;
}
