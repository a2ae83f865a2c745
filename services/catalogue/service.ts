import type { LookupFunction } from "node:net";
import type { OutgoingPolicy } from "../shared/outgoing/policy.js";
import type { Log } from "../shared/process/log.js";
import type { Peers } from "../shared/rpc/peers.js";
import type { Service } from "../shared/rpc/service.js";
import type { Store } from "../shared/store/store.js";
import type { Tool } from "../shared/tools/tools.js";
import type { Context } from "./context.js";
import type { ConfiguredPlatforms, PlatformAuthentications } from "./platforms.js";
import { routes } from "./routes.js";
import { openCatalogueStore } from "./store.js";

/** What the service needs. */
export interface Options {
  readonly store: Store;
  readonly peers: Peers;
  readonly log: Log;
  /** Every tool of the API. */
  readonly tools: readonly Tool[];
  readonly configured: ConfiguredPlatforms;
  readonly authentications: PlatformAuthentications;
  readonly registrationToken: string | undefined;
  /** Which addresses platforms may be called at. */
  readonly outgoing: OutgoingPolicy;
  /** Looks names up, where not the system does. */
  readonly resolve?: LookupFunction;
  /** The public URL of a server's endpoint. */
  readonly urlOf: (server: string) => string;
  /** The public base URL. */
  readonly homepage: string;
  /** The name that users see. */
  readonly serviceName: string;
  /** How long a platform has to say what a caller can do, in milliseconds. */
  readonly snapshotMs?: number;
}

/** Less than a façade waits for a list: one that a platform keeps waiting falls back to the read tools. */
const SNAPSHOT_MS = 3_500;

/** The service that knows which tools exist, who may see them and which endpoints are open. */
export async function createCatalogueService({
  store,
  tools,
  snapshotMs = SNAPSHOT_MS,
  ...options
}: Options): Promise<Service> {
  const byServer = new Map<string, Tool[]>();
  for (const tool of tools) byServer.set(tool.server, [...(byServer.get(tool.server) ?? []), tool]);
  const context: Context = { ...options, snapshotMs, tools: byServer, store: await openCatalogueStore(store) };
  return {
    name: "catalogue",
    methods: routes(context),
    ready: () =>
      store.ping().then(
        () => undefined,
        () => "the store of the catalogue does not answer",
      ),
    close: async () => {},
  };
}
