import { PlatformTokenService } from "#proto/auth/v1/platform_token_service_pb.js";
import type { Call } from "../shared/rpc/call.js";
import type { Peers } from "../shared/rpc/peers.js";
import type { Adapter, PlatformServer, Session } from "./adapter.js";
import { createIdentities, type Identities } from "./identity.js";
import type { HttpClient } from "./lib/http.js";
import { openPlatform, type Platform } from "./platform.js";
import { createTargets, type Targets } from "./targets.js";

/** Opens platforms for callers: everything a binding or command needs, in one place. */
export interface Sessions {
  readonly http: HttpClient;
  readonly identities: Identities;
  readonly targets: Targets;
  adapterOf(server: PlatformServer): Adapter;
  /** @param tool the rpc that is being answered, for the platform's audit. */
  session(server: PlatformServer, tool: string, call: Call): Promise<Session>;
  platform(server: PlatformServer, tool: string, call: Call): Promise<Platform>;
  /** The user who last called with an API key; undefined where it never came by. */
  userOf(keyId: string): string | undefined;
}

const KEPT_KEYS = 10_000;

export function createSessions(adapters: readonly Adapter[], http: HttpClient, peers: Peers): Sessions {
  const byServer = new Map(adapters.map((adapter) => [adapter.server, adapter]));
  const identities = createIdentities();
  const targets = createTargets(peers);
  const users = new Map<string, string>();

  const sessions: Sessions = {
    http,
    identities,
    targets,
    adapterOf(server) {
      const adapter = byServer.get(server);
      if (adapter === undefined) throw new Error(`no adapter speaks to ${server}`);
      return adapter;
    },
    userOf: (keyId) => users.get(keyId),
    async session(server, tool, call) {
      if (users.size >= KEPT_KEYS) users.delete(users.keys().next().value as string);
      users.set(call.caller.keyId, call.caller.id);
      return {
        caller: call.caller,
        target: await targets.of(server),
        signal: call.signal,
        deadline: call.deadline,
        traceparent: call.traceparent,
        tool,
        http,
        async token(fresh = false) {
          const { token } = await peers.call(PlatformTokenService.method.mintPlatformToken, { server, fresh }, call);
          return token;
        },
      };
    },
    async platform(server, tool, call) {
      return openPlatform(sessions.adapterOf(server), await sessions.session(server, tool, call), identities);
    },
  };
  return sessions;
}
