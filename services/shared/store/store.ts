import type { Document, Filter, OptionalUnlessRequiredId, Sort, UpdateFilter } from "mongodb";

// The one storage interface: a subset of the driver's own Collection, so that
// the driver's class is assignable to it unchanged and services write MongoDB
// filters and updates once. Ids are strings (UUIDv7); values are strings,
// numbers, booleans, null, dates, binary, arrays and objects. No $expr, no
// multi-document transactions.

/** What the driver says of filters and updates, which is what this interface speaks: services take it from here. */
export type { Document, Filter, OptionalUnlessRequiredId, UpdateFilter } from "mongodb";

/** What every document has: an id, a UUIDv7 unless its collection says otherwise. */
export interface Base {
  readonly _id: string;
}

/** Which of the documents found, in which order, and what of each. */
export interface FindOptions {
  sort?: Sort;
  skip?: number;
  limit?: number;
  projection?: Document;
  /** The declared index to take, by its name, where the filter alone does not tell which costs least. */
  hint?: string;
}

/** Documents found, read as they are asked for. */
export interface DocCursor<T> extends AsyncIterable<T> {
  sort(spec: Sort): this;
  limit(n: number): this;
  skip(n: number): this;
  project<U extends Document = Document>(spec: Document): DocCursor<U>;
  toArray(): Promise<T[]>;
  next(): Promise<T | null>;
  close(): Promise<void>;
}

/** What an update did. */
export interface UpdateOutcome {
  acknowledged: boolean;
  matchedCount: number;
  modifiedCount: number;
  upsertedCount: number;
}

/** One write of many. */
export type BulkOperation<T extends Base> =
  | { insertOne: { document: OptionalUnlessRequiredId<T> } }
  | { updateOne: { filter: Filter<T>; update: UpdateFilter<T>; upsert?: boolean } }
  | { deleteOne: { filter: Filter<T> } };

/** Bounds on a text. */
export type Range = Readonly<Partial<Record<"$gt" | "$gte" | "$lt" | "$lte", string>>>;

/** Equalities on the first fields of an index that goes on with the order of a list: it gives these documents in order. */
export interface Way<T extends Base> {
  readonly index: string;
  readonly by: Filter<T>;
}

/** What is looked for among many: what all ways give and the filter wants. */
export interface Look<T extends Base> {
  readonly ways: readonly [Way<T>, ...Way<T>[]];
  readonly wanted: Filter<T>;
  /** A text that no two of the documents have alike. */
  readonly order: keyof T & string;
  readonly direction: 1 | -1;
  readonly range: Range;
  /** How many are found at most. */
  readonly limit: number;
  /** How many documents are looked at, at most, along all ways together. */
  readonly most: number;
  /** Leaves the order in. */
  readonly projection?: Document | undefined;
}

/** The first of what was looked for. */
export interface Looked<T> {
  readonly found: T[];
  /** Where looking ended before there were as many as asked for; undefined where nothing is past them, or there are as many. */
  readonly end: string | undefined;
}

/** A collection of documents: the driver's, and what is looked for within a bound. */
export interface DocCollection<T extends Base> extends DriverCollection<T> {
  /**
   * Looks for documents in an order, along whichever way reaches furthest. It
   * may end having found fewer than there are: `end` then says where to go on.
   */
  look(asked: Look<T>): Promise<Looked<T>>;
  /** Another number after each write; undefined while one is under way, and where others may write too. */
  readonly version?: number | undefined;
}

/** A collection of documents; each method as in the driver for MongoDB. */
export interface DriverCollection<T extends Base> {
  insertOne(doc: OptionalUnlessRequiredId<T>): Promise<{ acknowledged: boolean; insertedId: unknown }>;
  insertMany(docs: OptionalUnlessRequiredId<T>[], options?: { ordered?: boolean }): Promise<{ insertedCount: number }>;
  findOne(filter: Filter<T>, options?: FindOptions): Promise<T | null>;
  find(filter: Filter<T>, options?: FindOptions): DocCursor<T>;
  countDocuments(filter?: Filter<T>, options?: { limit?: number; hint?: string }): Promise<number>;
  distinct(key: string, filter: Filter<T>): Promise<unknown[]>;
  updateOne(
    filter: Filter<T>,
    update: UpdateFilter<T>,
    options?: { upsert?: boolean; arrayFilters?: Document[] },
  ): Promise<UpdateOutcome>;
  updateMany(
    filter: Filter<T>,
    update: UpdateFilter<T>,
    options?: { arrayFilters?: Document[] },
  ): Promise<UpdateOutcome>;
  findOneAndUpdate(
    filter: Filter<T>,
    update: UpdateFilter<T>,
    options: { returnDocument?: "before" | "after"; upsert?: boolean; sort?: Sort; projection?: Document },
  ): Promise<T | null>;
  findOneAndDelete(filter: Filter<T>, options: { sort?: Sort }): Promise<T | null>;
  deleteOne(filter: Filter<T>): Promise<{ deletedCount: number }>;
  deleteMany(filter: Filter<T>): Promise<{ deletedCount: number }>;
  bulkWrite(
    operations: BulkOperation<T>[],
    options?: { ordered?: boolean },
  ): Promise<{ insertedCount: number; modifiedCount: number; deletedCount: number }>;
}

/** A declared index; its name stays when a field of it gets another one. */
export interface IndexSpec {
  readonly key: Readonly<Record<string, 1 | -1>>;
  readonly name: string;
  readonly unique?: boolean;
  readonly sparse?: boolean;
  readonly expireAfterSeconds?: number;
}

/**
 * One step forward in the shape of a collection's documents. The filter finds
 * only documents that the step has not reached, so that it can run again.
 */
export interface Migration {
  readonly filter: Document;
  readonly update: Document;
}

/** Every collection is declared once, by the service that owns it, with its indexes. */
export interface CollectionSpec {
  readonly name: string;
  readonly indexes: readonly IndexSpec[];
  /** Traces live in an environment of their own, so that spans never queue before logins. */
  readonly environment?: "main" | "traces";
  /**
   * Documents that a query without an index may look at before the log hears
   * of it: for a collection that stays small. 0 unless told.
   */
  readonly scanBound?: number;
  /**
   * The embedded store writes insertions to a journal, which costs less, and moves many at a time into the collection;
   * every other operation on the collection waits for that. It is for records that one process writes with every change,
   * under new ids, and that are seldom read. In MongoDB it changes nothing.
   */
  readonly journaled?: boolean;
  /** Only ever appended to: how many have run is the schema version of the collection. */
  readonly migrations?: readonly Migration[];
}

/** An index of the vectors of a collection, which the database itself searches. */
export interface VectorIndexSpec {
  readonly name: string;
  /** The field of the vectors: unit vectors as binary data of 32-bit floats (BSON subtype 9), or as numbers. */
  readonly path: string;
  readonly dimensions: number;
  /** Fields that a search may ask for by equality; applied before anything is ranked. */
  readonly filters: readonly string[];
}

/** Searches one such index. */
export interface VectorSearch {
  /** How a vector is written for it. */
  valueOf(vector: Float32Array): unknown;
  /** Whether it answers: an index is built in the background. */
  isReady(): Promise<boolean>;
  /** The ids of the nearest, the nearest first; what was written a moment ago may be missing. */
  nearest(asked: {
    readonly vector: Float32Array;
    readonly limit: number;
    readonly filter: Readonly<Record<string, string | { readonly $in: readonly string[] }>>;
  }): Promise<readonly { readonly _id: string; readonly score: number }[]>;
}

/** Where a store is: what a thread of this process needs to open it too (open.ts, openBeside). */
export type StorePlace =
  | { readonly dataDir: string }
  | { readonly mongodbUri: string; readonly database: string | undefined };

/** Begins one write of a collection, at once. */
export type Write = () => Promise<unknown>;

/** Collections of a store that another thread of the process has open. Resolved means durable. */
export interface OpenedBeside {
  collection<T extends Base>(name: string): DocCollection<T>;
  /** As that of {@link Store}. */
  inOrder(writes: readonly Write[]): Promise<void>;
  close(): Promise<void>;
}

/** Where a service keeps its records. Resolved means durable. */
export interface Store {
  /** Other processes may use it at the same time. */
  readonly isShared: boolean;
  collection<T extends Base>(name: string): DocCollection<T>;
  /**
   * Creates the collections that are missing and runs the migrations that have
   * not run, then creates the indexes that are missing, of what is there
   * already too. Throws when a newer version of the product has migrated a
   * collection further.
   */
  ensure(specs: readonly CollectionSpec[]): Promise<void>;
  /**
   * Makes writes, in this order: while all succeed, none is there without those before it. An engine that can makes
   * them one commit. If one fails, those after it may have been made. None may need what another gives.
   */
  inOrder(writes: readonly Write[]): Promise<void>;
  /** Makes an index of vectors, where the database has such; undefined where it has none. */
  vectorSearch?(collection: string, spec: VectorIndexSpec): Promise<VectorSearch | undefined>;
  /** Where it is; from now on a thread of this process may write into these collections, which are ensured. */
  place(collections: readonly string[]): StorePlace;
  ping(): Promise<void>;
  /** Why nothing can be written at the moment, in words, from memory; undefined where nothing of the kind is known. */
  unwritable(): string | undefined;
  close(): Promise<void>;
}

/** The same test for both backends. */
export function isDuplicateKey(error: unknown): boolean {
  return (error as { code?: unknown } | undefined)?.code === 11000;
}

/**
 * How many documents an ordered insertMany wrote before the one whose key was there, from its error. MongoDB's driver
 * gives the place of that one; the count beside it is the server's, and some that speak MongoDB's protocol count all
 * that were sent.
 */
export function insertedBefore(error: unknown): number {
  const { writeErrors, result } = error as {
    readonly writeErrors?: { readonly index: number } | readonly { readonly index: number }[];
    readonly result?: { readonly insertedCount: number };
  };
  const [first] = [writeErrors ?? []].flat() as { readonly index: number }[];
  return first?.index ?? result?.insertedCount ?? 0;
}
