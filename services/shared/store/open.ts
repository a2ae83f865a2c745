import type { Log } from "../process/log.js";
import { openEmbeddedBeside } from "./embedded/beside.js";
import { openEmbeddedStore } from "./embedded/embedded.js";
import type { CollectionSpec, OpenedBeside, Store, StorePlace } from "./store.js";

/** Which store, and where. */
export interface StoreOptions {
  /** A MongoDB connection string; without one the store is embedded. */
  readonly mongodbUri?: string | undefined;
  /** Where an embedded store lives; on a local disk. */
  readonly dataDir: string;
  readonly log: Log;
}

/** Opens the store that the settings name. */
export async function openStore({ mongodbUri, dataDir, log }: StoreOptions): Promise<Store> {
  if (!mongodbUri) return openEmbeddedStore(dataDir, { log });
  // The driver takes a while to load, which only those who use it should wait for.
  const { openMongoStore } = await import("./mongo.js");
  return openMongoStore(mongodbUri);
}

/** Opens collections in a thread of the process that has their store open, and has ensured them. */
export async function openBeside(place: StorePlace, specs: readonly CollectionSpec[]): Promise<OpenedBeside> {
  if ("dataDir" in place) return openEmbeddedBeside(place.dataDir, specs);
  const { openMongoStore } = await import("./mongo.js");
  const { mongodbUri, database } = place;
  return openMongoStore(mongodbUri, database === undefined ? {} : { database });
}
