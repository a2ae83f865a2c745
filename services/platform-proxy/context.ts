import { LRUCache } from "lru-cache";
import { PlatformTokenService } from "#proto/auth/v1/platform_token_service_pb.js";
import { holderOf } from "../shared/limits/holder.js";
import type { Slot } from "../shared/limits/slots.js";
import { type PlatformServer, platformAudienceOf } from "../shared/platforms.js";
import type { Call } from "../shared/rpc/call.js";
import { invalidArgument } from "../shared/rpc/errors.js";
import type { Peers } from "../shared/rpc/peers.js";
import type { Adapter, Session } from "./adapter.js";
import { createIdentities, type Identities } from "./identity.js";
import type { HttpClient } from "./lib/http.js";
import type { PlatformParts } from "./parts.js";
import type { PlatformSlots } from "./platform-slots.js";
import { createTargets, type Targets } from "./targets.js";

/** What the proxy was built with, and what it keeps about platforms and callers. */
export interface Context {
  /** The platforms whose tools it answers. */
  readonly platforms: readonly PlatformParts[];
  readonly http: HttpClient;
  readonly identities: Identities;
  readonly targets: Targets;
  readonly slots: PlatformSlots;
  readonly peers: Peers;
  /** The user who last called with an API key, by the key's id. */
  readonly users: LRUCache<string, string>;
}

const KEPT_KEYS = 10_000;

/** Makes a context that knows nobody yet. */
export function createContext(given: Pick<Context, "platforms" | "http" | "peers" | "slots">): Context {
  return {
    ...given,
    identities: createIdentities(),
    targets: createTargets(given.peers),
    users: new LRUCache({ max: KEPT_KEYS }),
  };
}

/**
 * The adapter that speaks to the platform of a server.
 *
 * @throws ConnectError invalid_argument that lists the servers there are.
 */
export function adapterOf({ platforms }: Context, server: string): Adapter {
  const adapters = platforms.map(({ adapter }) => adapter);
  const adapter = adapters.find((one) => one.server === server);
  if (adapter === undefined) {
    throw invalidArgument(`server: must be one of ${adapters.map((one) => one.server).join(", ")}`);
  }
  return adapter;
}

/**
 * Takes a slot at the platform of a server for a call.
 *
 * @throws ConnectError resource_exhausted, if the platform or the caller has too many calls in progress.
 */
export function takeSlot({ slots }: Context, server: PlatformServer, { caller }: Call): Slot {
  return slots.take(server, holderOf(caller));
}

/**
 * Opens a session of the calling user at the platform of a server.
 *
 * @param tool the rpc that is being answered, for the platform's audit.
 * @throws ConnectError failed_precondition, where no platform of this type is registered.
 */
export async function openSession(
  { targets, peers, http, users }: Context,
  server: PlatformServer,
  tool: string,
  call: Call,
): Promise<Session> {
  users.set(call.caller.keyId, call.caller.id);
  const target = await targets.of(server);
  const audience = platformAudienceOf(target);
  return {
    caller: call.caller,
    target,
    signal: call.signal,
    deadline: call.deadline,
    traceparent: call.traceparent,
    tool,
    http,
    async token(fresh = false) {
      const request = { server, fresh, audience };
      const { token } = await peers.call(PlatformTokenService.method.mintPlatformToken, request, call);
      return token;
    },
  };
}
