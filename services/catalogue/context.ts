import type { LookupFunction } from "node:net";
import type { OutgoingPolicy } from "../shared/outgoing/policy.js";
import type { Log } from "../shared/process/log.js";
import type { Peers } from "../shared/rpc/peers.js";
import type { Tool } from "../shared/tools/tools.js";
import type { ConfiguredPlatforms, PlatformAuthentications } from "./platforms.js";
import type { CatalogueStore } from "./store.js";

/** What every command of the catalogue works with. */
export interface Context {
  readonly store: CatalogueStore;
  readonly peers: Peers;
  readonly log: Log;
  /** The allow-list: every tool of the API, by server, in file order. */
  readonly tools: ReadonlyMap<string, readonly Tool[]>;
  readonly configured: ConfiguredPlatforms;
  readonly authentications: PlatformAuthentications;
  /** The registration token set by configuration. */
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
  readonly snapshotMs: number;
}
