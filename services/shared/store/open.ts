import type { Log } from "../process/log.js";
import { openEmbeddedStore } from "./embedded/embedded.js";
import type { Store } from "./store.js";

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
