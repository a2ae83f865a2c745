import type { Log } from "../shared/process/log.js";
import type { Peers } from "../shared/rpc/peers.js";
import type { Service } from "../shared/rpc/service.js";
import type { Store } from "../shared/store/store.js";
import { installBuiltins, readBuiltins } from "./builtins.js";
import { createPrincipals } from "./principals.js";
import { routesOf } from "./routes.js";
import { openCollections } from "./store.js";

/** What the service needs. */
export interface Options {
  readonly store: Store;
  /** How auth is asked whom an object is shared with. */
  readonly peers: Peers;
  readonly log: Log;
}

/** Our own records and their gates; installs what ships with the product before it serves. */
export async function createCoreObjectsService({ store, peers, log }: Options): Promise<Service> {
  const collections = await openCollections(store);
  const changed = await installBuiltins(collections, readBuiltins());
  if (changed > 0) log.info({ changed }, "built-in agents and skills installed");
  return {
    name: "core-objects",
    methods: routesOf(collections, createPrincipals(peers)),
    async ready() {
      try {
        await store.ping();
        return undefined;
      } catch {
        return "the store does not answer";
      }
    },
    async close() {},
  };
}
