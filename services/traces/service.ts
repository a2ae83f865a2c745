import type { Service } from "../shared/rpc/service.js";
import type { Store } from "../shared/store/store.js";
import type { Context } from "./context.js";
import { countEveryone, SPAN_QUOTA, type SpanQuota } from "./quota.js";
import { routes } from "./routes.js";
import { openTraceStore } from "./store.js";

/** What the service is made with: the store stays open, who opened it closes it. */
export interface TracesOptions extends Omit<Context, "store" | "quota"> {
  readonly store: Store;
  /** What spans may add up to, if not what SPAN_QUOTA says. */
  readonly quota?: Partial<SpanQuota>;
}

/** Takes spans in over OTLP and lets those who may inspect them. */
export async function createTracesService({ store, quota, ...options }: TracesOptions): Promise<Service> {
  const context: Context = {
    ...options,
    quota: { ...SPAN_QUOTA, ...quota },
    store: await openTraceStore(store),
  };
  await countEveryone(context.store);
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
