import type { Document, Filter, OptionalUnlessRequiredId, Sort, UpdateFilter } from "mongodb";
import type { Log } from "../../process/log.js";
import { refuseUndefined, withUpsertId } from "../filter.js";
import type {
  Base,
  BulkOperation,
  CollectionSpec,
  DocCollection,
  DocCursor,
  FindOptions,
  Look,
  Looked,
  UpdateOutcome,
} from "../store.js";
import { BulkWriteError } from "./bulk-write-error.js";
import { EmbeddedCursor } from "./cursor.js";
import { wholeComponentOf } from "./keys.js";
import { matcherOf } from "./matcher.js";
import { nextVersion, replaced, type UpdateOptions } from "./next-version.js";
import { valuesAt } from "./paths.js";
import { projected } from "./projection.js";
import { Queries } from "./queries.js";
import type { Records } from "./records.js";
import type { Stored } from "./stored.js";
import { seedOf, updated } from "./update.js";
import { withId } from "./values.js";

/** Writes of one call that share a transaction; between two of them other work runs. */
const BATCH = 200;

/** One collection: documents by id, and the indexes declared for it. */
export class EmbeddedCollection implements DocCollection<Base> {
  readonly queries: Queries;

  constructor(
    readonly spec: CollectionSpec,
    readonly records: Records,
    log: Log,
  ) {
    this.queries = new Queries(records, spec, log);
  }

  get version(): number | undefined {
    return this.records.version;
  }

  async insertOne(document: OptionalUnlessRequiredId<Base>): Promise<{ acknowledged: boolean; insertedId: unknown }> {
    const stored = withId(document);
    await this.records.transaction(() => this.records.write(undefined, stored));
    return { acknowledged: true, insertedId: stored._id };
  }

  async insertMany(
    documents: OptionalUnlessRequiredId<Base>[],
    options: { ordered?: boolean } = {},
  ): Promise<{ insertedCount: number }> {
    const stored = documents.map(withId);
    const counts = await this.#inBatches(stored, options.ordered ?? true, (document, counts) => {
      this.records.write(undefined, document);
      counts.insertedCount++;
    });
    return { insertedCount: counts.insertedCount };
  }

  async findOne(filter: Filter<Base>, options: FindOptions = {}): Promise<Base | null> {
    refuseUndefined(filter);
    const direct = this.records.direct(filter);
    if (direct !== undefined && !options.skip) return projected(direct, options.projection);
    for await (const [document] of this.queries.batches(filter, { ...options, limit: 1 }))
      return (document as Base) ?? null;
    return null;
  }

  find(filter: Filter<Base>, options: FindOptions = {}): DocCursor<Base> {
    refuseUndefined(filter);
    const { queries } = this;
    return new EmbeddedCursor<Base>(
      { batches: (chosen) => queries.batches(filter, chosen), all: (chosen) => queries.all(filter, chosen) },
      options,
    );
  }

  look(asked: Look<Base>): Promise<Looked<Base>> {
    return this.queries.look(asked) as Promise<Looked<Base>>;
  }

  async countDocuments(filter: Filter<Base> = {}, options: { limit?: number; hint?: string } = {}): Promise<number> {
    refuseUndefined(filter);
    const limit = options.limit || Number.POSITIVE_INFINITY;
    if (Object.keys(filter).length === 0) return Math.min(limit, this.records.count);
    return this.queries.count(filter, limit, options.hint);
  }

  async distinct(key: string, filter: Filter<Base>): Promise<unknown[]> {
    const segments = key.split(".");
    const values = new Map<string, unknown>();
    for await (const batch of this.queries.batches(filter, {}))
      for (const document of batch) {
        const found = valuesAt(document, segments);
        if (found.missing) continue;
        for (const value of found.values)
          if (typeof value !== "symbol") values.set(wholeComponentOf(value).toString("latin1"), value);
      }
    return [...values.values()];
  }

  async updateOne(
    filter: Filter<Base>,
    update: UpdateFilter<Base>,
    options: UpdateOptions = {},
  ): Promise<UpdateOutcome> {
    refuseUndefined(filter);
    const atOnce = replaced(this.records, filter, update, options);
    if (atOnce === undefined) return this.records.transaction(() => this.#updateOne(filter, update, options));
    await atOnce.written;
    const modifiedCount = atOnce.after === undefined ? 0 : 1;
    return { acknowledged: true, matchedCount: 1, modifiedCount, upsertedCount: 0 };
  }

  async updateMany(
    filter: Filter<Base>,
    update: UpdateFilter<Base>,
    options: UpdateOptions = {},
  ): Promise<UpdateOutcome> {
    const matches = matcherOf(filter);
    const outcome = { acknowledged: true, matchedCount: 0, modifiedCount: 0, upsertedCount: 0 };
    await this.#forEachMatch(filter, (id) => {
      const before = this.records.byId(id);
      if (!before || !matches(before)) return;
      outcome.matchedCount++;
      if (this.#change(before, filter, update, options)) outcome.modifiedCount++;
    });
    return outcome;
  }

  async findOneAndUpdate(
    filter: Filter<Base>,
    update: UpdateFilter<Base>,
    options: UpdateOptions & { returnDocument?: "before" | "after"; projection?: Document } = {},
  ): Promise<Base | null> {
    refuseUndefined(filter);
    const wanted = options.returnDocument === "after";
    const atOnce = replaced(this.records, filter, update, options);
    if (atOnce !== undefined) {
      const { before, after, written } = atOnce;
      await written;
      return projected(wanted ? (after ?? before) : before, options.projection);
    }
    return this.records.transaction(() => {
      const [before] = this.queries.matching(filter, 1, options.sort);
      if (before) {
        const after = this.#change(before, filter, update, options);
        return projected(wanted ? (after ?? before) : before, options.projection);
      }
      if (!options.upsert) return null;
      const inserted = this.#upsert(filter, update, options);
      return wanted ? projected(inserted, options.projection) : null;
    });
  }

  async findOneAndDelete(filter: Filter<Base>, options: { sort?: Sort } = {}): Promise<Base | null> {
    refuseUndefined(filter);
    return this.records.transaction(() => {
      const [document] = this.queries.matching(filter, 1, options.sort);
      if (document) this.records.write(document, undefined);
      return document ?? null;
    });
  }

  async deleteOne(filter: Filter<Base>): Promise<{ deletedCount: number }> {
    refuseUndefined(filter);
    return this.records.transaction(() => this.#deleteOne(filter));
  }

  async deleteMany(filter: Filter<Base>): Promise<{ deletedCount: number }> {
    const matches = matcherOf(filter);
    let deletedCount = 0;
    await this.#forEachMatch(filter, (id) => {
      const document = this.records.byId(id);
      if (!document || !matches(document)) return;
      this.records.write(document, undefined);
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
        this.records.write(undefined, withId(operation.insertOne.document));
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

  #updateOne(filter: Document, update: Document, options: UpdateOptions): UpdateOutcome {
    const [before] = this.queries.matching(filter, 1, options.sort);
    if (!before) {
      if (options.upsert) this.#upsert(filter, update, options);
      return { acknowledged: true, matchedCount: 0, modifiedCount: 0, upsertedCount: options.upsert ? 1 : 0 };
    }
    const modifiedCount = this.#change(before, filter, update, options) ? 1 : 0;
    return { acknowledged: true, matchedCount: 1, modifiedCount, upsertedCount: 0 };
  }

  #deleteOne(filter: Document): { deletedCount: number } {
    const [document] = this.queries.matching(filter, 1);
    if (document) this.records.write(document, undefined);
    return { deletedCount: document ? 1 : 0 };
  }

  /** Inside a transaction: the document after the update; undefined when that changed nothing. */
  #change(before: Stored, filter: Document, update: Document, options: UpdateOptions): Stored | undefined {
    const after = nextVersion(this.records, before, { filter, update, ...options });
    if (after !== undefined) this.records.write(before, after);
    return after;
  }

  #upsert(filter: Document, update: Document, options: UpdateOptions): Stored {
    const operators = withUpsertId(filter, update);
    const inserted = updated(seedOf(filter), operators, { ...options, filter, inserting: true });
    this.records.write(undefined, inserted);
    return inserted;
  }

  /** Finds ids without holding the event loop, then visits them in transactions; the visitor looks again. */
  async #forEachMatch(filter: Document, visit: (id: string) => void): Promise<void> {
    const ids: string[] = [];
    for await (const batch of this.queries.batches(filter, {})) for (const document of batch) ids.push(document._id);
    for (let i = 0; i < ids.length; i += BATCH) {
      await this.records.transaction(() => {
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
      await this.records.transaction(() => {
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
}
