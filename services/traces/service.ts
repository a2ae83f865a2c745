import type { Service } from "../shared/rpc/service.js";
import type { Store } from "../shared/store/store.js";
import type { Context } from "./context.js";
import { routes } from "./routes.js";
import { openTraceStore } from "./store.js";

/** What the service is made with: the store stays open, who opened it closes it. */
export interface TracesOptions extends Omit<Context, "store"> {
  readonly store: Store;
}

/** Takes spans in over OTLP and lets those who may inspect them. */
export async function createTracesService({ store, ...options }: TracesOptions): Promise<Service> {
  const context: Context = { ...options, store: await openTraceStore(store) };
  return {
    name: "traces",
    methods: routes(context),
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
