import type { OutgoingPolicy } from "../shared/outgoing/policy.js";
import type { Log } from "../shared/process/log.js";
import type { Peers } from "../shared/rpc/peers.js";
import type { Service } from "../shared/rpc/service.js";
import { forgetCaller } from "./commands/forget-caller.js";
import { createContext } from "./context.js";
import { createHttpClient } from "./lib/http.js";
import { noteExchanges } from "./lib/noted-exchanges.js";
import type { PlatformParts } from "./parts.js";
import { type PlatformSlotLimits, PlatformSlots } from "./platform-slots.js";
import { routes } from "./routes.js";

/** What the service is built with. */
export interface Options {
  readonly peers: Peers;
  readonly log: Log;
  /** The platforms whose tools it answers. */
  readonly platforms: readonly PlatformParts[];
  /** Which addresses platforms may be called at. */
  readonly outgoing: OutgoingPolicy;
  /** How many calls may run at one platform. */
  readonly slots: PlatformSlotLimits;
  /** From how many milliseconds on a request to a platform is logged as slow; absent and 0 for none. */
  readonly slowMs?: number;
  /** Goes first in the User-Agent, such as `sallyport/1.0.0`. */
  readonly agentName: string;
  /** Tells of what changes at run time; what is kept about it is dropped before the event counts as applied. */
  readonly onEvent: (listener: (event: { readonly kind: string; readonly id: string }) => Promise<void>) => () => void;
}

/** The service that answers tools from connected platforms, as the calling user. */
export function createPlatformProxyService({
  peers,
  log,
  platforms,
  outgoing,
  slots,
  slowMs = 0,
  agentName,
  onEvent,
}: Options): Service {
  const http = createHttpClient(agentName, outgoing, undefined, undefined, noteExchanges(slowMs, log));
  const context = createContext({ platforms, http, peers, slots: new PlatformSlots(slots) });
  const unsubscribe = onEvent(async ({ kind, id }) => {
    if (kind === "platform" || kind === "reset") {
      context.targets.forget();
      context.identities.clear();
    }
    const userId = kind === "user" ? id : kind === "key" ? context.users.get(id) : undefined;
    // What is kept here is gone at once; that the platform hears of it may take longer than an event may wait.
    if (userId !== undefined)
      forgetCaller(context, { userId }).catch((error: unknown) =>
        log.warn({ err: error }, "the service could not end a session at a platform"),
      );
  });
  return {
    name: "platform-proxy",
    methods: routes(context),
    ready: async () => undefined,
    async close() {
      unsubscribe();
      await Promise.all(platforms.map(({ adapter }) => adapter.close?.()));
      await http.close();
    },
  };
}
