import type { ListVisibleToolsRequest } from "#proto/catalogue/v1/endpoint_service_pb.js";
import { CapabilityService } from "#proto/core/v1/capability_service_pb.js";
import { SnapshotService } from "#proto/platform/v1/snapshot_service_pb.js";
import { CORE, isPlatformServer } from "../../shared/platforms.js";
import type { Call } from "../../shared/rpc/call.js";
import { notFound } from "../../shared/rpc/errors.js";
import type { Context } from "../context.js";
import { type Capabilities, visibleTools } from "../visibility.js";

/** With the 30 seconds that platform-proxy keeps a snapshot, a list is at most a minute old. */
const KEEP_MS = 30_000;
const KEEP_WITHOUT_SNAPSHOT_MS = 2_000;

/** The tools that the caller may see on a server. */
export async function listVisibleTools(
  context: Context,
  { server }: ListVisibleToolsRequest,
  call: Call,
): Promise<{ tools: string[]; keepMs: number; unlisted: string[] }> {
  const tools = context.tools.get(server);
  if (tools === undefined) throw notFound(`there is no server ${server}`);
  // Whose scopes reach nothing here has nothing to ask of the platform either.
  if (!tools.some(({ scope }) => call.caller.scopes.has(scope))) return { tools: [], keepMs: KEEP_MS, unlisted: [] };
  const capabilities = await capabilitiesOf(context, server, call);
  const { listed, unlisted } = visibleTools(tools, call.caller, capabilities);
  const keepMs = isPlatformServer(server) ? (capabilities === undefined ? KEEP_WITHOUT_SNAPSHOT_MS : KEEP_MS) : 0;
  return { tools: listed.map((tool) => tool.name), keepMs, unlisted: unlisted.map((tool) => tool.name) };
}

async function capabilitiesOf({ peers, log }: Context, server: string, call: Call): Promise<Capabilities> {
  if (server === CORE.name) {
    const reply = await peers.call(CapabilityService.method.getCapabilities, {}, call);
    return new Set(reply.capabilities);
  }
  if (!isPlatformServer(server)) return new Set();
  try {
    const reply = await peers.call(SnapshotService.method.getSnapshot, { server }, call);
    return new Set(reply.capabilities);
  } catch (error) {
    log.warn({ err: error, server }, "no snapshot of the platform; only read tools are listed");
    return undefined;
  }
}
