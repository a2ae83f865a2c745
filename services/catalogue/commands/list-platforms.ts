import type { MessageInitShape } from "@bufbuild/protobuf";
import { ConnectionState, type PlatformSchema } from "#proto/catalogue/v1/setting_service_pb.js";
import { PLATFORM_SERVERS, type PlatformServer, scopesOfServer } from "../../shared/platforms.js";
import type { Call, Caller } from "../../shared/rpc/call.js";
import { stateOf } from "../connection-state.js";
import type { Context } from "../context.js";
import { platformsOf } from "../platforms.js";

/** Lists the platforms that the caller's scopes reach; of those without a fresh heartbeat the serving one is asked whether it answers. */
export async function listPlatforms(context: Context, { caller }: Pick<Call, "caller">) {
  const reached = PLATFORM_SERVERS.filter((server) => reaches(caller, server));
  return { platforms: (await Promise.all(reached.map((server) => ofServer(context, server, caller)))).flat() };
}

function reaches({ scopes }: Caller, server: PlatformServer): boolean {
  return scopes.has("admin") || scopesOfServer(server).some((scope) => scopes.has(scope));
}

async function ofServer(
  context: Context,
  server: PlatformServer,
  { scopes }: Caller,
): Promise<MessageInitShape<typeof PlatformSchema>[]> {
  const all = await platformsOf(context, server);
  if (all.length === 0) return [{ server, state: ConnectionState.NOT_CONNECTED }];
  // What is registered behind the one that serves is administrators' business.
  const shown = scopes.has("admin") ? all : all.slice(0, 1);
  return Promise.all(shown.map((platform) => stateOf(context, platform, platform === all[0])));
}
