import { SettingService } from "#proto/catalogue/v1/setting_service_pb.js";
import type { PlatformServer } from "../shared/platforms.js";
import { failedPrecondition } from "../shared/rpc/errors.js";
import type { Peers } from "../shared/rpc/peers.js";
import type { Target } from "./adapter.js";

const KEPT_MS = 60_000;

/** Where the registered platforms are, as the catalogue says. */
export interface Targets {
  /** @throws ConnectError failed_precondition, where no platform of this type is registered. */
  of(server: PlatformServer): Promise<Target>;
  /** Asks anew at the next call. */
  forget(): void;
}

/** Asks the catalogue where a platform is, and keeps the answer for a minute. */
export function createTargets(peers: Peers): Targets {
  const kept = new Map<PlatformServer, { readonly target: Target; readonly until: number }>();
  let epoch = 0;
  return {
    async of(server) {
      const found = kept.get(server);
      if (found !== undefined && found.until > Date.now()) return found.target;
      const asked = epoch;
      const reply = await peers.callAsService(SettingService.method.getPlatformTarget, { server });
      if (!reply.registered) {
        throw failedPrecondition(`no ${server} platform is registered; ask an administrator to register one`);
      }
      const target: Target = {
        server,
        url: reply.url.replace(/\/+$/, ""),
        publicUrl: reply.publicUrl.replace(/\/+$/, ""),
        auth: reply.auth,
        clientId: reply.clientId,
      };
      // An answer that a change has overtaken is of the platform before.
      if (asked === epoch) kept.set(server, { target, until: Date.now() + KEPT_MS });
      return target;
    },
    forget() {
      epoch++;
      kept.clear();
    },
  };
}
