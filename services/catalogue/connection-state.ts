import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ConnectionState, type PlatformSchema } from "#proto/catalogue/v1/setting_service_pb.js";
import { SnapshotService } from "#proto/platform/v1/snapshot_service_pb.js";
import type { PlatformServer } from "../shared/platforms.js";
import type { Context } from "./context.js";
import { FRESH_MS, type RegisteredPlatform } from "./platforms.js";

/**
 * A platform as administrators and clients see it: connected while its
 * heartbeat is fresh or, of the one that serves, while it answers a probe.
 */
export async function stateOf(
  context: Context,
  platform: RegisteredPlatform,
  serves: boolean,
): Promise<MessageInitShape<typeof PlatformSchema>> {
  const { id, server, url, publicUrl, title, version, lastSeenAt, configured } = platform;
  const fresh = isFresh(platform);
  const connected = fresh || (serves && (await answers(context, server)));
  const seen = connected && !fresh ? new Date() : lastSeenAt;
  return {
    id,
    server,
    serves,
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
