import { CapabilityService } from "#proto/core/v1/capability_service_pb.js";
import { SnapshotService } from "#proto/platform/v1/snapshot_service_pb.js";
import { CORE, isPlatformServer } from "../shared/platforms.js";
import type { Call } from "../shared/rpc/call.js";
import type { Context } from "./context.js";
import type { Capabilities } from "./visibility.js";

/** What the caller can do on a server now, asked of who knows; undefined where the platform does not say. */
export async function capabilitiesOf(
  { peers, log, snapshotMs }: Pick<Context, "peers" | "log" | "snapshotMs">,
  server: string,
  call: Call,
): Promise<Capabilities> {
  if (server === CORE.name) {
    const reply = await peers.call(CapabilityService.method.getCapabilities, {}, call);
    return new Set(reply.capabilities);
  }
  if (!isPlatformServer(server)) return new Set();
  try {
    const reply = await peers.call(SnapshotService.method.getSnapshot, { server }, within(snapshotMs, call));
    return new Set(reply.capabilities);
  } catch (error) {
    log.warn({ err: error, server }, "the platform's snapshot cannot be read; lists have only read tools");
    return undefined;
  }
}

/** The call with less time. */
function within(ms: number, { caller, credential, assertion, signal, deadline, traceparent }: Call): Call {
  const end = Date.now() + ms;
  return {
    caller,
    credential,
    assertion,
    traceparent,
    signal: AbortSignal.any([signal, AbortSignal.timeout(ms)]),
    deadline: deadline === undefined ? end : Math.min(deadline, end),
  };
}
