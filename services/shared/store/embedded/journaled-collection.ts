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
import { Journal, type JournalOptions } from "./journal.js";
import { journalPaths } from "./journal-files.js";
import type { Entry } from "./journal-frame.js";
import type { Stored } from "./stored.js";
import { emptyUnnumbered } from "./unnumbered-journal.js";
import { isPlainId, withId } from "./values.js";

/** Documents that may wait in its journal. */
const MOST_WAITING = 20_000;
/** Documents that a transaction inserts: nobody waits for it, and it comes beside calls. */
const AT_ONCE = 64;

/** A collection whose insertions go to a journal; every other operation waits until the collection has them. */
export class JournaledCollection implements DocCollection<Base> {
  /** Documents that are on their way into the journal, or wait in it. */
  readonly #waiting = new Map<string, Stored>();
  /**
   * The highest id that was inserted: an id above it is new, and is not looked up. Undefined if documents are inserted
   * without the journal, or if keys are not in the order of their ids.
   */
  #highest: string | undefined;
  #journal!: Journal;

  private constructor(private readonly collection: EmbeddedCollection) {}

  /** Opens the journal of a collection, and puts what it has into the collection first. */
  static async open(
    folder: string,
    collection: EmbeddedCollection,
    { mark, failed }: Pick<JournalOptions, "mark" | "failed">,
  ): Promise<JournaledCollection> {
    const own = new JournaledCollection(collection);
    const { records, spec } = collection;
    if (spec.indexes.some(({ unique }) => unique))
      throw new Error(`collection ${spec.name} is journaled, so that no index of it is unique`);
    const paths = journalPaths(folder, spec.name);
    await emptyUnnumbered(paths, async (documents) => {
      await collection.insertMany(documents.filter(({ _id }) => !records.has(_id)));
    });
    const apply: JournalOptions["apply"] = (entries, move) => own.#apply(entries, move);
    own.#journal = await Journal.open(folder, { paths, mark, most: MOST_WAITING, atOnce: AT_ONCE, apply, failed });
    own.#highest = records.highestId();
    return own;
  }

  async #apply(entries: readonly Entry[], move: () => boolean): Promise<void> {
    const { records } = this.collection;
    await records.transaction(() => {
      if (!move()) return;
      for (const { id, bytes } of entries)
        if (this.#highest !== undefined || !records.has(id))
          records.addNew(this.#waiting.get(id) ?? records.documentOf(bytes), bytes);
    });
    for (const { id } of entries) this.#waiting.delete(id);
  }

  /** How many documents are in the journal, and not in the collection yet. */
  get size(): number {
    return this.#journal.size;
  }

  async insertOne(document: OptionalUnlessRequiredId<Base>): Promise<{ acknowledged: boolean; insertedId: unknown }> {
    const stored = withId(document);
    if ((await this.#append([stored])) === 0) throw new DuplicateKeyError("_id_", { _id: 1 });
    return { acknowledged: true, insertedId: stored._id };
  }

  async insertMany(documents: OptionalUnlessRequiredId<Base>[]): Promise<{ insertedCount: number }> {
    const insertedCount = await this.#append(documents.map(withId));
    if (insertedCount === documents.length) return { insertedCount };
    const failure = new DuplicateKeyError("_id_", { _id: 1 });
    throw new BulkWriteError([failure], { insertedCount, modifiedCount: 0, deletedCount: 0 });
  }

  /** Appends documents, up to the first whose id is there already; resolves to how many these are. */
  async #append(documents: readonly Stored[]): Promise<number> {
    const added: Entry[] = [];
    for (const document of documents) {
      if (!this.#isNew(document._id)) break;
      this.#waiting.set(document._id, document);
      added.push(this.collection.records.entryOf(document));
    }
    if (added.length === 0) return 0;
    try {
      await this.#journal.append(added);
    } catch (error) {
      for (const { id } of added) this.#waiting.delete(id);
      throw error;
    }
    return added.length;
  }

  #isNew(id: string): boolean {
    if (this.#highest !== undefined && id > this.#highest && isPlainId(id)) {
      this.#highest = id;
      return true;
    }
    return !this.#waiting.has(id) && !this.collection.records.has(id);
  }

  /** @param inserts whether what comes next may insert documents without the journal. */
  #settled({ inserts = false }: { readonly inserts?: boolean | undefined }): Promise<void> {
    if (inserts) this.#highest = undefined;
    return this.#journal.settle();
  }

  /** What cannot go into the collection now does so at the next start. */
  close(): Promise<void> {
    return this.#journal.close();
  }

  find(filter: Filter<Base>, options: FindOptions = {}): DocCursor<Base> {
    const { collection } = this;
    const journal = this.#journal;
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
    await this.#journal.settle();
    return this.collection.findOne(filter, options);
  }

  async look(asked: Look<Base>): Promise<Looked<Base>> {
    await this.#journal.settle();
    return this.collection.look(asked);
  }

  async countDocuments(filter?: Filter<Base>, options?: { limit?: number; hint?: string }): Promise<number> {
    await this.#journal.settle();
    return this.collection.countDocuments(filter, options);
  }

  async distinct(key: string, filter: Filter<Base>): Promise<unknown[]> {
    await this.#journal.settle();
    return this.collection.distinct(key, filter);
  }

  async updateOne(
    filter: Filter<Base>,
    update: UpdateFilter<Base>,
    options?: { upsert?: boolean },
  ): Promise<UpdateOutcome> {
    await this.#settled({ inserts: options?.upsert });
    return this.collection.updateOne(filter, update, options);
  }

  async updateMany(...args: [filter: Filter<Base>, update: UpdateFilter<Base>]): Promise<UpdateOutcome> {
    await this.#journal.settle();
    return this.collection.updateMany(...args);
  }

  async findOneAndUpdate(...args: Parameters<EmbeddedCollection["findOneAndUpdate"]>): Promise<Base | null> {
    await this.#settled({ inserts: args[2]?.upsert });
    return this.collection.findOneAndUpdate(...args);
  }

  async findOneAndDelete(...args: Parameters<EmbeddedCollection["findOneAndDelete"]>): Promise<Base | null> {
    await this.#journal.settle();
    return this.collection.findOneAndDelete(...args);
  }

  async deleteOne(filter: Filter<Base>): Promise<{ deletedCount: number }> {
    await this.#journal.settle();
    return this.collection.deleteOne(filter);
  }

  async deleteMany(filter: Filter<Base>): Promise<{ deletedCount: number }> {
    await this.#journal.settle();
    return this.collection.deleteMany(filter);
  }

  async bulkWrite(
    operations: BulkOperation<Base>[],
    options?: { ordered?: boolean },
  ): Promise<{ insertedCount: number; modifiedCount: number; deletedCount: number }> {
    await this.#settled({ inserts: true });
    return this.collection.bulkWrite(operations, options);
  }
}
