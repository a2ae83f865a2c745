import type { Service } from "../shared/rpc/service.js";
import type { Store } from "../shared/store/store.js";
import { createApart } from "./apart.js";
import type { Context } from "./context.js";
import { countEveryone, SPAN_QUOTA, type SpanQuota } from "./quota.js";
import { routes } from "./routes.js";
import { COLLECTIONS, openTraceStore } from "./store.js";

/** What the service is made with: the store stays open, who opened it closes it. */
export interface TracesOptions extends Omit<Context, "store" | "quota" | "apart"> {
  readonly store: Store;
  /** What spans may add up to, if not what SPAN_QUOTA says. */
  readonly quota?: Partial<SpanQuota>;
}

/** Takes spans in over OTLP and lets those who may inspect them. */
export async function createTracesService({ store, quota, ...options }: TracesOptions): Promise<Service> {
  const traces = await openTraceStore(store);
  const limits = { ...SPAN_QUOTA, ...quota };
  const place = store.place(COLLECTIONS.map(({ name }) => name));
  const { peers, retentionDays } = options;
  const apart = createApart({ place, peers, retentionDays, quota: limits });
  const context: Context = { ...options, quota: limits, store: traces, apart };
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
    close: () => apart.close(),
  };
}
