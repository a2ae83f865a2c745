import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ConnectionState } from "#proto/catalogue/v1/setting_service_pb.js";
import { SnapshotService } from "#proto/platform/v1/snapshot_service_pb.js";
import { PLATFORM_SERVERS, type PlatformServer, scopesOfServer } from "../../shared/platforms.js";
import type { Call, Caller } from "../../shared/rpc/call.js";
import type { Context } from "../context.js";
import { FRESH_MS, type RegisteredPlatform, registeredPlatform } from "../platforms.js";

/** Lists the platforms that the caller's scopes reach; one without a fresh heartbeat is asked whether it answers. */
export async function listPlatforms(context: Context, { caller }: Pick<Call, "caller">) {
  const reached = PLATFORM_SERVERS.filter((server) => reaches(caller, server));
  return { platforms: await Promise.all(reached.map((server) => stateOf(context, server))) };
}

function reaches({ scopes }: Caller, server: PlatformServer): boolean {
  return scopes.has("admin") || scopesOfServer(server).some((scope) => scopes.has(scope));
}

async function stateOf(context: Context, server: PlatformServer) {
  const doc = await context.store.platforms.findOne({ _id: server });
  const platform = registeredPlatform(server, context.configured, doc);
  if (platform === undefined) return { server, state: ConnectionState.NOT_CONNECTED };
  const { url, publicUrl, title, version, lastSeenAt, configured } = platform;
  const connected = isFresh(platform) || (await answers(context, server));
  const seen = connected && !isFresh(platform) ? new Date() : lastSeenAt;
  return {
    server,
    state: connected ? ConnectionState.CONNECTED : ConnectionState.REGISTERED,
    url,
    publicUrl,
    title,
    version,
    configured,
    ...(seen !== undefined && { lastSeenAt: timestampFromDate(seen) }),
  };
}

function isFresh({ lastSeenAt, configured }: RegisteredPlatform): boolean {
  return !configured && lastSeenAt !== undefined && Date.now() - lastSeenAt.getTime() < FRESH_MS;
}

async function answers({ peers, log }: Context, server: PlatformServer): Promise<boolean> {
  try {
    const { reachable } = await peers.callAsService(SnapshotService.method.probe, { server });
    return reachable;
  } catch (error) {
    log.warn({ err: error, server }, "the platform could not be probed");
    return false;
  }
}
