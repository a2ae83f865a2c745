import {
  type Collection,
  type Db,
  type IndexDescription,
  type IndexDescriptionInfo,
  MongoClient,
  MongoServerError,
} from "mongodb";
import { v7 as uuid } from "uuid";
import { refuseUndefined, withUpsertId } from "./filter.js";
import { migrate } from "./migrations.js";
import { lookIn } from "./mongo-look.js";
import { orUnavailable } from "./mongo-unreachable.js";
import { openVectorSearch } from "./mongo-vector-search.js";
import type {
  Base,
  CollectionSpec,
  DocCollection,
  DriverCollection,
  IndexSpec,
  Store,
  StorePlace,
  VectorIndexSpec,
  VectorSearch,
  Write,
} from "./store.js";

/** What may be chosen of a store in MongoDB. */
export interface MongoOptions {
  /** Unless told, the one that the connection string names, or else "sallyport". */
  readonly database?: string;
}

/** An index of this name or of these fields is there with other options. */
const INDEX_CONFLICTS: ReadonlySet<unknown> = new Set([85, 86]);
const NAMESPACE_NOT_FOUND = 26;
const INDEX_NOT_FOUND = 27;

/**
 * Opens the store that lives in MongoDB. A write resolves when a majority has
 * it on disk, and is tried again once when a primary steps down. Throws when no
 * server answers.
 */
export async function openMongoStore(uri: string, options: MongoOptions = {}): Promise<Store> {
  const client = new MongoClient(uri, {
    writeConcern: { w: "majority", journal: true },
    // What was read is not taken back when a primary steps down.
    readConcern: { level: "majority" },
    retryWrites: true,
    promoteBuffers: true,
    ignoreUndefined: true,
    serverSelectionTimeoutMS: 10_000,
    // Of the question whether the server is there, too: half-open sockets are given up so much later.
    connectTimeoutMS: 10_000,
    pkFactory: { createPk: () => uuid() },
  });
  await client.connect();
  return new MongoStore(client, client.db(options.database ?? databaseIn(uri) ?? "sallyport"), {
    mongodbUri: uri,
    database: options.database,
  });
}

/** The driver itself would silently take "test" where none is named. */
function databaseIn(uri: string): string | undefined {
  return /^[^/]+\/\/[^/]+\/([^?]+)/.exec(uri)?.[1];
}

class MongoStore implements Store {
  readonly isShared = true;

  constructor(
    private readonly client: MongoClient,
    private readonly database: Db,
    private readonly at: StorePlace,
  ) {}

  place(): StorePlace {
    return this.at;
  }

  collection<T extends Base>(name: string): DocCollection<T> {
    return guarded(this.database.collection<Base>(name)) as unknown as DocCollection<T>;
  }

  async ensure(specs: readonly CollectionSpec[]): Promise<void> {
    for (const spec of specs) {
      const collection = this.database.collection(spec.name);
      // A unique index stands in the way of a migration that renames what it is of, and can only be made after it.
      await dropChangedIndexes(collection, spec.indexes);
      await migrate(this, spec);
      for (const index of spec.indexes) await ensureIndex(collection, index);
    }
  }

  vectorSearch(collection: string, spec: VectorIndexSpec): Promise<VectorSearch | undefined> {
    return openVectorSearch(this.database.collection<Base>(collection), spec);
  }

  async inOrder(writes: readonly Write[]): Promise<void> {
    for (const write of writes) await write();
  }

  async ping(): Promise<void> {
    await this.database.command({ ping: 1 });
  }

  /** The server says so of each write itself. */
  unwritable(): undefined {
    return undefined;
  }

  async close(): Promise<void> {
    await this.client.close();
  }
}

/** Drops the indexes that are there by a declared name and of other fields; those without a declaration are not ours. */
async function dropChangedIndexes(collection: Collection, declared: readonly IndexSpec[]): Promise<void> {
  const keys = new Map(declared.map(({ name, key }) => [name, JSON.stringify(Object.entries(key))]));
  for (const { name, key } of await indexesOf(collection)) {
    const wanted = name === undefined ? undefined : keys.get(name);
    if (wanted === undefined || wanted === JSON.stringify(Object.entries(key))) continue;
    // Another process may have been faster.
    await collection.dropIndex(name as string).catch(unless(INDEX_NOT_FOUND));
  }
}

async function indexesOf(collection: Collection): Promise<IndexDescriptionInfo[]> {
  return (await collection.indexes().catch(unless(NAMESPACE_NOT_FOUND))) ?? [];
}

/** Lets pass one error of the server. */
function unless(code: number): (error: unknown) => undefined {
  return (error) => {
    if (!(error instanceof MongoServerError) || error.code !== code) throw error;
  };
}

/** An index whose declaration changed is made anew. */
async function ensureIndex(collection: Collection, spec: IndexSpec): Promise<void> {
  const index: IndexDescription = { ...spec, key: new Map(Object.entries(spec.key)) };
  try {
    await collection.createIndexes([index]);
  } catch (error) {
    if (!(error instanceof MongoServerError) || !INDEX_CONFLICTS.has(error.code)) throw error;
    await collection.dropIndex(spec.name);
    await collection.createIndexes([index]);
  }
}

/** The driver's collection, behind the checks that both backends make of filters and ids. */
function guarded(collection: Collection<Base>): DocCollection<Base> {
  const driver = orUnavailable<DriverCollection<Base>>(collection);
  return {
    look: async (asked) => {
      for (const filter of [...asked.ways.map(({ by }) => by), asked.wanted, asked.range]) refuseUndefined(filter);
      return lookIn(driver, asked);
    },
    insertOne: (document) => driver.insertOne(document),
    insertMany: (documents, options) => driver.insertMany(documents, options),
    findOne: async (filter, options) => driver.findOne(checked(filter), options),
    find: (filter, options) => driver.find(checked(filter), options),
    countDocuments: async (filter = {}, options = {}) => driver.countDocuments(checked(filter), options),
    distinct: async (key, filter) => driver.distinct(key, checked(filter)),
    updateOne: async (filter, update, options = {}) =>
      driver.updateOne(checked(filter), options.upsert ? withUpsertId(filter, update) : update, options),
    updateMany: async (filter, update, options = {}) => driver.updateMany(checked(filter), update, options),
    findOneAndUpdate: async (filter, update, options) =>
      driver.findOneAndUpdate(checked(filter), options.upsert ? withUpsertId(filter, update) : update, options),
    findOneAndDelete: async (filter, options) => driver.findOneAndDelete(checked(filter), options),
    deleteOne: async (filter) => driver.deleteOne(checked(filter)),
    deleteMany: async (filter) => driver.deleteMany(checked(filter)),
    bulkWrite: async (operations, options) =>
      driver.bulkWrite(
        operations.map((operation) => {
          if ("insertOne" in operation) return operation;
          if ("deleteOne" in operation) return { deleteOne: { filter: checked(operation.deleteOne.filter) } };
          const { filter, update, upsert } = operation.updateOne;
          return {
            updateOne: {
              ...operation.updateOne,
              update: upsert ? withUpsertId(filter, update) : update,
              filter: checked(filter),
            },
          };
        }),
        options,
      ),
  };
}

function checked<F extends object>(filter: F): F {
  refuseUndefined(filter);
  return filter;
}
