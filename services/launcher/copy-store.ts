import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { COLLECTIONS as OF_AUTH } from "../auth/store.js";
import { COLLECTIONS as OF_CATALOGUE } from "../catalogue/store.js";
import { coreCollections } from "../core-objects/collections.js";
import { copyCollection, type Digest, digestOf } from "../shared/store/copied.js";
import { openEmbeddedStore } from "../shared/store/embedded/embedded.js";
import { SCHEMA_VERSIONS } from "../shared/store/migrations.js";
import type { CollectionSpec, Store } from "../shared/store/store.js";
import { COLLECTIONS as OF_TRACES } from "../traces/store.js";
import type { Settings } from "./config.js";

/** The two kinds of store, as the command names them. */
export const STORES = ["mongodb", "embedded"] as const;

/** What was copied. */
export interface Copied {
  readonly to: (typeof STORES)[number];
  readonly collections: number;
  readonly documents: number;
  /** Digests of source and target, which are equal, by collection; of those that have documents. */
  readonly digests: Readonly<Record<string, Digest>>;
}

/** Nothing expires while it is copied and compared. */
const NO_SWEEPING = { sweepEveryMs: 2 ** 31 - 1 };
/** Where an embedded store is made before it takes its place. */
const COPYING = "copying";

/** Every collection of the service, whichever process runs it. */
export async function everyCollection(): Promise<readonly CollectionSpec[]> {
  return [...OF_AUTH, ...OF_CATALOGUE, ...(await coreCollections()), ...OF_TRACES];
}

/**
 * Copies all records of a service that is stopped from one kind of store into the other, which has none, and compares
 * them. A copy that fails leaves the target empty; one that is killed leaves it so that no service starts on it.
 *
 * @throws Error in one line.
 */
export async function copyStore(
  { dataDir, mongodbUri }: Pick<Settings, "dataDir" | "mongodbUri">,
  to: string,
): Promise<Copied> {
  if (to !== "mongodb" && to !== "embedded") throw new Error("--to must be mongodb or embedded");
  if (mongodbUri === undefined) throw new Error("set MONGODB_URI to the database: the other store is that of DATA_DIR");
  const specs = await everyCollection();
  const hasEmbedded = existsSync(join(dataDir, "main", "data.mdb"));
  const { openMongoStore } = await import("../shared/store/mongo.js");
  if (to === "mongodb") {
    if (!hasEmbedded) throw new Error(`${dataDir} has no store: set DATA_DIR to the service's data directory`);
    const source = await openEmbeddedStore(dataDir, NO_SWEEPING);
    try {
      return await toMongo(source, await openMongoStore(mongodbUri), specs);
    } finally {
      await source.close();
    }
  }
  if (hasEmbedded)
    throw new Error(`${dataDir} has a store already: move main and traces away, or set another DATA_DIR`);
  const source = await openMongoStore(mongodbUri);
  try {
    return await toEmbedded(source, dataDir, specs);
  } finally {
    await source.close();
  }
}

async function toMongo(source: Store, target: Store, specs: readonly CollectionSpec[]): Promise<Copied> {
  const names = namesOf(specs);
  try {
    for (const name of names) {
      if ((await target.collection(name).countDocuments({}, { limit: 1 })) > 0)
        throw new Error(`the database of MONGODB_URI has documents in ${name}: copy into an empty database`);
    }
    await source.ensure(specs);
    try {
      // The format of the store comes last: without it no service starts on what is there.
      for (const name of names) await copyCollection(source, target, name);
      const copied = await compared(source, target, names, "mongodb");
      await target.ensure(specs);
      return copied;
    } catch (error) {
      // The database was empty. If it cannot be emptied now, no service starts on it all the same.
      for (const name of names)
        await target
          .collection(name)
          .deleteMany({})
          .catch(() => undefined);
      throw error;
    }
  } finally {
    await target.close();
  }
}

async function toEmbedded(source: Store, dataDir: string, specs: readonly CollectionSpec[]): Promise<Copied> {
  const format = await source.collection(SCHEMA_VERSIONS.name).countDocuments({}, { limit: 1 });
  if (format === 0) throw new Error("the database of MONGODB_URI has no store of this service");
  await source.ensure(specs);
  const staged = join(dataDir, COPYING);
  rmSync(staged, { recursive: true, force: true });
  mkdirSync(staged, { recursive: true, mode: 0o700 });
  try {
    const target = await openEmbeddedStore(staged, NO_SWEEPING);
    let copied: Copied;
    try {
      await target.ensure(specs);
      const names = namesOf(specs);
      for (const name of names.filter((one) => one !== SCHEMA_VERSIONS.name))
        await copyCollection(source, target, name);
      copied = await compared(source, target, names, "embedded");
    } finally {
      await target.close();
    }
    // A start looks for main.
    for (const name of ["traces", "main"]) {
      rmSync(join(dataDir, name), { recursive: true, force: true });
      renameSync(join(staged, name), join(dataDir, name));
    }
    return copied;
  } finally {
    rmSync(staged, { recursive: true, force: true });
  }
}

function namesOf(specs: readonly CollectionSpec[]): readonly string[] {
  return [...specs.map(({ name }) => name), SCHEMA_VERSIONS.name];
}

async function compared(source: Store, target: Store, names: readonly string[], to: Copied["to"]): Promise<Copied> {
  const digests: Record<string, Digest> = {};
  for (const name of names) {
    const [there, here] = [await digestOf(source, name), await digestOf(target, name)];
    if (there.sha256 !== here.sha256)
      throw new Error(
        `${name} differs: ${there.documents} documents here, ${here.documents} in the copy. Stop every process of the service, and copy again`,
      );
    if (here.documents > 0) digests[name] = here;
  }
  const documents = Object.values(digests).reduce((sum, one) => sum + one.documents, 0);
  return { to, collections: Object.keys(digests).length, documents, digests };
}
