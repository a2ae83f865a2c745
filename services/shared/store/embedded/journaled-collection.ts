import type { Filter, OptionalUnlessRequiredId, UpdateFilter } from "mongodb";
import type {
  Base,
  BulkOperation,
  DocCollection,
  DocCursor,
  FindOptions,
  Look,
  Looked,
  UpdateOutcome,
} from "../store.js";
import { BulkWriteError } from "./bulk-write-error.js";
import type { EmbeddedCollection } from "./collection.js";
import { EmbeddedCursor } from "./cursor.js";
import { DuplicateKeyError } from "./duplicate-key-error.js";
import type { Journal } from "./journal.js";
import { withId } from "./values.js";

/** A collection whose insertions go to a journal; every other operation waits until the collection has them. */
export class JournaledCollection implements DocCollection<Base> {
  constructor(
    private readonly collection: EmbeddedCollection,
    private readonly journal: Journal,
  ) {}

  async insertOne(document: OptionalUnlessRequiredId<Base>): Promise<{ acknowledged: boolean; insertedId: unknown }> {
    const stored = withId(document);
    if ((await this.journal.append([stored])) === 0) throw new DuplicateKeyError("_id_", { _id: 1 });
    return { acknowledged: true, insertedId: stored._id };
  }

  async insertMany(documents: OptionalUnlessRequiredId<Base>[]): Promise<{ insertedCount: number }> {
    const insertedCount = await this.journal.append(documents.map(withId));
    if (insertedCount === documents.length) return { insertedCount };
    const failure = new DuplicateKeyError("_id_", { _id: 1 });
    throw new BulkWriteError([failure], { insertedCount, modifiedCount: 0, deletedCount: 0 });
  }

  find(filter: Filter<Base>, options: FindOptions = {}): DocCursor<Base> {
    const { collection, journal } = this;
    return new EmbeddedCursor<Base>(
      {
        async *batches(chosen) {
          await journal.settle();
          yield* collection.queries.batches(filter, chosen);
        },
        async all(chosen) {
          await journal.settle();
          return collection.queries.all(filter, chosen);
        },
      },
      options,
    );
  }

  async findOne(filter: Filter<Base>, options?: FindOptions): Promise<Base | null> {
    await this.journal.settle();
    return this.collection.findOne(filter, options);
  }

  async look(asked: Look<Base>): Promise<Looked<Base>> {
    await this.journal.settle();
    return this.collection.look(asked);
  }

  async countDocuments(filter?: Filter<Base>, options?: { limit?: number; hint?: string }): Promise<number> {
    await this.journal.settle();
    return this.collection.countDocuments(filter, options);
  }

  async distinct(key: string, filter: Filter<Base>): Promise<unknown[]> {
    await this.journal.settle();
    return this.collection.distinct(key, filter);
  }

  async updateOne(
    ...args: [filter: Filter<Base>, update: UpdateFilter<Base>, options?: { upsert?: boolean }]
  ): Promise<UpdateOutcome> {
    await this.journal.settle();
    return this.collection.updateOne(...args);
  }

  async updateMany(...args: [filter: Filter<Base>, update: UpdateFilter<Base>]): Promise<UpdateOutcome> {
    await this.journal.settle();
    return this.collection.updateMany(...args);
  }

  async findOneAndUpdate(...args: Parameters<EmbeddedCollection["findOneAndUpdate"]>): Promise<Base | null> {
    await this.journal.settle();
    return this.collection.findOneAndUpdate(...args);
  }

  async findOneAndDelete(...args: Parameters<EmbeddedCollection["findOneAndDelete"]>): Promise<Base | null> {
    await this.journal.settle();
    return this.collection.findOneAndDelete(...args);
  }

  async deleteOne(filter: Filter<Base>): Promise<{ deletedCount: number }> {
    await this.journal.settle();
    return this.collection.deleteOne(filter);
  }

  async deleteMany(filter: Filter<Base>): Promise<{ deletedCount: number }> {
    await this.journal.settle();
    return this.collection.deleteMany(filter);
  }

  async bulkWrite(
    operations: BulkOperation<Base>[],
    options?: { ordered?: boolean },
  ): Promise<{ insertedCount: number; modifiedCount: number; deletedCount: number }> {
    await this.journal.settle();
    return this.collection.bulkWrite(operations, options);
  }
}
