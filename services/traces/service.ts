import type { Log } from "../shared/process/log.js";
import type { Peers } from "../shared/rpc/peers.js";
import type { Service } from "../shared/rpc/service.js";
import type { Store } from "../shared/store/store.js";
import { routesOf } from "./routes.js";
import { openCollections } from "./store.js";

/** What the service needs. */
export interface Options {
  readonly store: Store;
  /** Reaches core-objects, which says whose agents a caller can manage. */
  readonly peers: Peers;
  readonly log: Log;
  /** Days that spans are kept after they arrive. */
  readonly retentionDays: number;
}

/** Takes spans in over OTLP and lets those who may inspect them. */
export async function createTracesService({ store, peers, log, retentionDays }: Options): Promise<Service> {
  const collections = await openCollections(store);
  return {
    name: "traces",
    methods: routesOf({ collections, peers, log, retentionDays }),
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
