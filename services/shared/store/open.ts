import type { Log } from "../log.js";
import { openEmbeddedStore } from "./embedded/embedded.js";
import { openMongoStore } from "./mongo.js";
import type { Store } from "./store.js";

export interface StoreOptions {
  /** A MongoDB connection string; without one the store is embedded. */
  readonly mongodbUri?: string | undefined;
  /** Where an embedded store lives; on a local disk. */
  readonly dataDir: string;
  readonly log: Log;
}

/** Opens the store that the settings name. */
export function openStore({ mongodbUri, dataDir, log }: StoreOptions): Promise<Store> {
  return mongodbUri ? openMongoStore(mongodbUri) : openEmbeddedStore(dataDir, { log });
}
