import { CapabilityService } from "#proto/core/v1/capability_service_pb.js";
import { type CallerTenant, SnapshotService } from "#proto/platform/v1/snapshot_service_pb.js";
import { CORE, isPlatformServer } from "../shared/platforms.js";
import type { Call } from "../shared/rpc/call.js";
import type { Context } from "./context.js";
import type { Capabilities } from "./visibility.js";

/** What a caller is on a server now. */
export interface Standing {
  readonly capabilities: Capabilities;
  /** The caller's tenants on the platform, if there are several. */
  readonly tenants: CallerTenant[];
}

/** What the caller can do on a server now; the capabilities are undefined if the platform does not say. */
export async function standingOf(
  { peers, log, snapshotMs }: Pick<Context, "peers" | "log" | "snapshotMs">,
  server: string,
  call: Call,
): Promise<Standing> {
  if (server === CORE.name) {
    const reply = await peers.call(CapabilityService.method.getCapabilities, {}, call);
    return { capabilities: new Set(reply.capabilities), tenants: [] };
  }
  if (!isPlatformServer(server)) return { capabilities: new Set(), tenants: [] };
  try {
    const reply = await peers.call(SnapshotService.method.getSnapshot, { server }, within(snapshotMs, call));
    return { capabilities: new Set(reply.capabilities), tenants: reply.tenants };
  } catch (error) {
    log.warn({ err: error, server }, "the platform's snapshot cannot be read; lists have only read tools");
    return { capabilities: undefined, tenants: [] };
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
