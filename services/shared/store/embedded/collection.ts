import { isDeepStrictEqual } from "node:util";
import type { Database, RootDatabase } from "lmdb";
import { find } from "mingo";
import type { Document, Filter, OptionalUnlessRequiredId, Sort, UpdateFilter } from "mongodb";
import { v7 as uuid } from "uuid";
import type { Log } from "../../log.js";
import { refuseUndefined, withUpsertId } from "../filter.js";
import type {
  Base,
  BulkOperation,
  CollectionSpec,
  DocCollection,
  DocCursor,
  FindOptions,
  UpdateOutcome,
} from "../store.js";
import { BulkWriteError } from "./bulk-write-error.js";
import { constraintsOf } from "./constraints.js";
import { EmbeddedCursor } from "./cursor.js";
import { DuplicateKeyError } from "./duplicate-key-error.js";
import { isScalar, wholeComponentOf } from "./keys.js";
import { type Matcher, matcherOf } from "./matcher.js";
import { sortDocuments, sortFieldsOf } from "./order.js";
import { valuesAt } from "./paths.js";
import { type Plan, planOf } from "./plan.js";
import { Scan, turn, type Walkable } from "./scan.js";
import type { SecondaryIndex } from "./secondary-index.js";
import { seedOf, updated } from "./update.js";
import { idKey, storable } from "./values.js";

type Stored = Document & { _id: string };

interface UpdateOptions {
  readonly upsert?: boolean;
  readonly sort?: Sort;
  readonly arrayFilters?: Document[];
}

/** Writes of one call that share a transaction; between two of them other work runs. */
const BATCH = 200;

/** One collection: documents by id, and the indexes declared for it. */
export class EmbeddedCollection implements DocCollection<Base> {
  readonly indexes = new Map<string, SecondaryIndex>();
  readonly #primary: Walkable;
  readonly #reported = new Set<string>();

  constructor(
    readonly name: string,
    private readonly root: RootDatabase,
    readonly documents: Database<Stored, Buffer>,
    private readonly spec: CollectionSpec,
    private readonly log: Log,
  ) {
    this.#primary = primaryIndex(documents);
  }

  async insertOne(document: OptionalUnlessRequiredId<Base>): Promise<{ acknowledged: boolean; insertedId: unknown }> {
    const stored = withId(document);
    await this.transaction(() => this.#write(undefined, stored));
    return { acknowledged: true, insertedId: stored._id };
  }

  async insertMany(
    documents: OptionalUnlessRequiredId<Base>[],
    options: { ordered?: boolean } = {},
  ): Promise<{ insertedCount: number }> {
    const stored = documents.map(withId);
    const counts = await this.#inBatches(stored, options.ordered ?? true, (document, counts) => {
      this.#write(undefined, document);
      counts.insertedCount++;
    });
    return { insertedCount: counts.insertedCount };
  }

  async findOne(filter: Filter<Base>, options: FindOptions = {}): Promise<Base | null> {
    const direct = this.#direct(filter);
    if (direct !== undefined && !options.skip) return projected(direct, options.projection);
    for await (const [document] of this.#batches(filter, { ...options, limit: 1 })) return (document as Base) ?? null;
    return null;
  }

  find(filter: Filter<Base>, options: FindOptions = {}): DocCursor<Base> {
    refuseUndefined(filter);
    return new EmbeddedCursor<Base>((chosen) => this.#batches(filter, chosen), options);
  }

  async countDocuments(filter: Filter<Base> = {}, options: { limit?: number } = {}): Promise<number> {
    refuseUndefined(filter);
    const limit = options.limit || Number.POSITIVE_INFINITY;
    if (Object.keys(filter).length === 0) return Math.min(limit, entryCount(this.documents));
    const plan = this.#plan(filter, undefined);
    const scan = this.#scan(plan, filter);
    let count = 0;
    while (!scan.done && count < limit) {
      count += plan.exact ? scan.countSlice(limit - count) : scan.slice(limit - count).length;
      if (!scan.done && count < limit) await turn();
    }
    this.#reportScan(plan, scan, filter);
    return count;
  }

  async distinct(key: string, filter: Filter<Base>): Promise<unknown[]> {
    const segments = key.split(".");
    const values = new Map<string, unknown>();
    for await (const batch of this.#batches(filter, {}))
      for (const document of batch) {
        const found = valuesAt(document, segments);
        if (found.missing) continue;
        for (const value of found.values)
          if (typeof value !== "symbol") values.set(wholeComponentOf(value).toString("latin1"), value);
      }
    return [...values.values()];
  }

  updateOne(filter: Filter<Base>, update: UpdateFilter<Base>, options: UpdateOptions = {}): Promise<UpdateOutcome> {
    refuseUndefined(filter);
    return this.transaction(() => this.#updateOne(filter, update, options));
  }

  async updateMany(
    filter: Filter<Base>,
    update: UpdateFilter<Base>,
    options: UpdateOptions = {},
  ): Promise<UpdateOutcome> {
    const matches = matcherOf(filter);
    const outcome = { acknowledged: true, matchedCount: 0, modifiedCount: 0, upsertedCount: 0 };
    await this.#forEachMatch(filter, (id) => {
      const before = this.documentById(id);
      if (!before || !matches(before)) return;
      outcome.matchedCount++;
      if (this.#change(before, filter, update, options)) outcome.modifiedCount++;
    });
    return outcome;
  }

  findOneAndUpdate(
    filter: Filter<Base>,
    update: UpdateFilter<Base>,
    options: UpdateOptions & { returnDocument?: "before" | "after"; projection?: Document } = {},
  ): Promise<Base | null> {
    refuseUndefined(filter);
    return this.transaction(() => {
      const [before] = this.#matching(filter, 1, options.sort);
      const wanted = options.returnDocument === "after";
      if (before) {
        const after = this.#change(before, filter, update, options);
        return projected(wanted ? (after ?? before) : before, options.projection);
      }
      if (!options.upsert) return null;
      const inserted = this.#upsert(filter, update, options);
      return wanted ? projected(inserted, options.projection) : null;
    });
  }

  findOneAndDelete(filter: Filter<Base>, options: { sort?: Sort } = {}): Promise<Base | null> {
    refuseUndefined(filter);
    return this.transaction(() => {
      const [document] = this.#matching(filter, 1, options.sort);
      if (document) this.#write(document, undefined);
      return document ?? null;
    });
  }

  deleteOne(filter: Filter<Base>): Promise<{ deletedCount: number }> {
    refuseUndefined(filter);
    return this.transaction(() => this.#deleteOne(filter));
  }

  async deleteMany(filter: Filter<Base>): Promise<{ deletedCount: number }> {
    const matches = matcherOf(filter);
    let deletedCount = 0;
    await this.#forEachMatch(filter, (id) => {
      const document = this.documentById(id);
      if (!document || !matches(document)) return;
      this.#write(document, undefined);
      deletedCount++;
    });
    return { deletedCount };
  }

  async bulkWrite(
    operations: BulkOperation<Base>[],
    options: { ordered?: boolean } = {},
  ): Promise<{ insertedCount: number; modifiedCount: number; deletedCount: number }> {
    return this.#inBatches(operations, options.ordered ?? true, (operation, counts) => {
      if ("insertOne" in operation) {
        this.#write(undefined, withId(operation.insertOne.document));
        counts.insertedCount++;
      } else if ("updateOne" in operation) {
        const { filter, update, upsert } = operation.updateOne;
        refuseUndefined(filter);
        counts.modifiedCount += this.#updateOne(filter, update, { upsert: upsert ?? false }).modifiedCount;
      } else {
        refuseUndefined(operation.deleteOne.filter);
        counts.deletedCount += this.#deleteOne(operation.deleteOne.filter).deletedCount;
      }
    });
  }

  /** Runs writes that happen together or, when one throws, not at all; resolves when they are on disk. */
  transaction<R>(run: () => R): Promise<R> {
    const undo = (error: unknown): never => {
      for (const index of this.indexes.values()) index.undone();
      throw error;
    };
    return this.root
      .childTransaction(() => {
        // At once, because the next transaction may run before a rejection is heard of.
        try {
          return run();
        } catch (error) {
          return undo(error);
        }
      })
      .catch(undo);
  }

  documentById(id: string): Stored | undefined {
    return this.documents.get(idKey(id));
  }

  /** Inside a transaction: deletes a document that was read in it. */
  remove(document: Stored): void {
    this.#write(document, undefined);
  }

  #updateOne(filter: Document, update: Document, options: UpdateOptions): UpdateOutcome {
    const [before] = this.#matching(filter, 1, options.sort);
    if (!before) {
      if (options.upsert) this.#upsert(filter, update, options);
      return { acknowledged: true, matchedCount: 0, modifiedCount: 0, upsertedCount: options.upsert ? 1 : 0 };
    }
    const modifiedCount = this.#change(before, filter, update, options) ? 1 : 0;
    return { acknowledged: true, matchedCount: 1, modifiedCount, upsertedCount: 0 };
  }

  #deleteOne(filter: Document): { deletedCount: number } {
    const [document] = this.#matching(filter, 1);
    if (document) this.#write(document, undefined);
    return { deletedCount: document ? 1 : 0 };
  }

  /** The document after the update; undefined when that changed nothing. */
  #change(before: Stored, filter: Document, update: Document, options: UpdateOptions): Stored | undefined {
    const draft = this.documents.get(idKey(before._id)) as Stored;
    const after = updated(draft, update, { filter, arrayFilters: options.arrayFilters });
    if (isDeepStrictEqual(before, after)) return undefined;
    this.#write(before, after);
    return after;
  }

  #upsert(filter: Document, update: Document, options: UpdateOptions): Stored {
    const operators = withUpsertId(filter, update);
    const inserted = updated(seedOf(filter), operators, { ...options, filter, inserting: true });
    this.#write(undefined, inserted);
    return inserted;
  }

  /** Inside a transaction: everything is checked before anything is written, so that a refusal leaves nothing. */
  #write(before: Stored | undefined, after: Stored | undefined): void {
    const id = (after ?? before)?._id as string;
    const key = idKey(id);
    if (!before && this.documents.doesExist(key)) throw new DuplicateKeyError("_id_", { _id: 1 });
    const changes = [...this.indexes.values()].map((index) => {
      const [from, to] = [index.keysOf(before), index.keysOf(after)];
      if (after) index.check(after, to);
      return { index, from, to };
    });
    for (const { index, from, to } of changes) index.replace(id, from, to);
    if (after) void this.documents.put(key, after);
    else void this.documents.remove(key);
  }

  /** The document that a filter names by its id or by a unique index alone: null when there is none. */
  #direct(filter: Document): Stored | null | undefined {
    const names = Object.keys(filter);
    if (names.length === 1 && typeof filter._id === "string") return this.documents.get(idKey(filter._id)) ?? null;
    for (const index of this.indexes.values()) {
      if (!index.unique || !index.complete || index.fields.length !== names.length) continue;
      const values = index.fields.map(({ path }) => filter[path]);
      if (!values.every((value) => isScalar(value) && value !== null)) continue;
      const id = index.database.get(Buffer.concat(values.map((value, i) => index.part(i, value))));
      return id === undefined ? null : (this.documentById(id) ?? null);
    }
    return undefined;
  }

  /** Inside a transaction: the first documents that match, found without giving way. */
  #matching(filter: Document, limit: number, sort?: Sort): Stored[] {
    const direct = this.#direct(filter);
    if (direct !== undefined) return direct ? [direct] : [];
    const plan = this.#plan(filter, sort);
    const scan = this.#scan(plan, filter);
    const found = scan.all(plan.sorted ? limit : Number.POSITIVE_INFINITY) as Stored[];
    this.#reportScan(plan, scan, filter);
    return plan.sorted ? found : (sortDocuments(found, sortFieldsOf(sort)).slice(0, limit) as Stored[]);
  }

  /** Finds ids without holding the event loop, then visits them in transactions; the visitor looks again. */
  async #forEachMatch(filter: Document, visit: (id: string) => void): Promise<void> {
    const ids: string[] = [];
    for await (const batch of this.#batches(filter, {})) for (const document of batch) ids.push(document._id);
    for (let i = 0; i < ids.length; i += BATCH) {
      await this.transaction(() => {
        for (const id of ids.slice(i, i + BATCH)) visit(id);
      });
    }
  }

  /** Applies operations in order; each is atomic, the whole is not. An ordered run stops at the first that fails. */
  async #inBatches<O>(
    operations: readonly O[],
    ordered: boolean,
    apply: (operation: O, counts: { insertedCount: number; modifiedCount: number; deletedCount: number }) => void,
  ): Promise<{ insertedCount: number; modifiedCount: number; deletedCount: number }> {
    const counts = { insertedCount: 0, modifiedCount: 0, deletedCount: 0 };
    const failures: unknown[] = [];
    for (let i = 0; i < operations.length && !(ordered && failures.length > 0); i += BATCH) {
      await this.transaction(() => {
        for (const operation of operations.slice(i, i + BATCH)) {
          try {
            apply(operation, counts);
          } catch (error) {
            failures.push(error);
            if (ordered) return;
          }
        }
      });
    }
    if (failures.length > 0) throw new BulkWriteError(failures, counts);
    return counts;
  }

  async *#batches(filter: Document, options: FindOptions): AsyncGenerator<Document[], void> {
    refuseUndefined(filter);
    const plan = this.#plan(filter, options.sort);
    const scan = this.#scan(plan, filter);
    const limit = options.limit ? Math.abs(options.limit) : Number.POSITIVE_INFINITY;
    const batches = plan.sorted
      ? inOrder(scan, options.skip ?? 0, limit)
      : sorted(scan, options.sort, options.skip ?? 0, limit);
    for await (const batch of batches)
      yield options.projection ? batch.map((document) => projected(document, options.projection) as Document) : batch;
    this.#reportScan(plan, scan, filter);
  }

  #plan(filter: Document, sort: Sort | undefined): Plan<Walkable> {
    return planOf<Walkable>(constraintsOf(filter), sortFieldsOf(sort), this.#primary, [...this.indexes.values()]);
  }

  #scan(plan: Plan<Walkable>, filter: Document): Scan {
    const documentOf =
      plan.index === this.#primary
        ? (value: unknown) => value as Stored
        : (value: unknown) => this.documents.get(idKey(value as string));
    const matches: Matcher = plan.exact ? () => true : matcherOf(filter);
    return new Scan(plan, documentOf, matches);
  }

  #reportScan(plan: Plan<Walkable>, scan: Scan, filter: Document): void {
    if (!plan.full || scan.examined <= (this.spec.scanBound ?? 0)) return;
    const paths = Object.keys(filter).sort().join(",");
    if (paths === "" || this.#reported.has(paths)) return;
    this.#reported.add(paths);
    this.log.warn({ collection: this.name, paths, examined: scan.examined }, "a query is not covered by an index");
  }
}

async function* inOrder(scan: Scan, skip: number, limit: number): AsyncGenerator<Document[], void> {
  let [toSkip, left] = [skip, limit];
  while (!scan.done && left > 0) {
    const batch = scan.slice(toSkip + left);
    const kept = batch.slice(toSkip);
    toSkip -= batch.length - kept.length;
    left -= kept.length;
    if (kept.length > 0) yield kept;
    if (!scan.done && left > 0) await turn();
  }
}

/** Sorts in memory, keeping no more than what may still be among the first that are wanted. */
async function* sorted(
  scan: Scan,
  sort: Sort | undefined,
  skip: number,
  limit: number,
): AsyncGenerator<Document[], void> {
  const fields = sortFieldsOf(sort);
  const keep = skip + limit;
  let found: Document[] = [];
  while (!scan.done) {
    found.push(...scan.slice());
    if (found.length > keep * 2 + 1_000) found = sortDocuments(found, fields).slice(0, keep);
    if (!scan.done) await turn();
  }
  yield sortDocuments(found, fields).slice(skip, keep);
}

function projected(document: Document | null, projection: Document | undefined): Base | null {
  if (!document || !projection) return document as Base | null;
  return (find([document], {}, projection).all()[0] as Base | undefined) ?? null;
}

function withId(document: Document): Stored {
  return storable({ ...document, _id: document._id ?? uuid() });
}

function entryCount(database: Database<Stored, Buffer>): number {
  return (database.getStats() as { entryCount: number }).entryCount;
}

/** The documents seen as an index over _id. */
function primaryIndex(documents: Database<Stored, Buffer>): Walkable {
  return {
    database: documents,
    fields: [{ path: "_id", segments: ["_id"], descending: false }],
    unique: true,
    sparse: false,
    complete: true,
    isRegular: () => true,
    isMultiple: false,
    part: (_field, value) => idKey(value as string),
  };
}
