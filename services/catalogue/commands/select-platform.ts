import type { MessageInitShape } from "@bufbuild/protobuf";
import type { PlatformSchema, SelectPlatformRequest } from "#proto/catalogue/v1/setting_service_pb.js";
import { isPlatformServer, PLATFORM_SERVERS, type PlatformServer } from "../../shared/platforms.js";
import { failedPrecondition, notFound } from "../../shared/rpc/errors.js";
import { stateOf } from "../connection-state.js";
import type { Context } from "../context.js";
import { configuredId, platformsOf } from "../platforms.js";
import { publishPlatform } from "../registrations.js";

/** Lets a registered platform serve; returns when every process knows. */
export async function selectPlatform(
  context: Context,
  { id }: SelectPlatformRequest,
): Promise<{ platform: MessageInitShape<typeof PlatformSchema> }> {
  const { store, configured, log } = context;
  const server = await serverOf(context, id);
  const set = configured[server];
  if (set !== undefined && set.isBuiltIn !== true) {
    const name = `${server.toUpperCase()}_URL`;
    throw failedPrecondition(
      `the setting ${name} selects the ${server} platform: remove the setting, restart the service, then select a platform`,
    );
  }
  if (set !== undefined && id === configuredId(server, set)) {
    await store.platforms.updateMany({ server }, { $unset: { selected_at: "" } });
  } else {
    const { matchedCount } = await store.platforms.updateOne({ _id: id }, { $set: { selected_at: new Date() } });
    if (matchedCount === 0) throw unknownPlatform(id);
  }
  log.info({ server, platform: id }, "an administrator selected another platform");
  await publishPlatform(context, server);
  return { platform: await shown(context, server, id) };
}

/**
 * A platform as it is listed.
 *
 * @throws ConnectError not_found, where it was forgotten meanwhile.
 */
export async function shown(
  context: Context,
  server: PlatformServer,
  id: string,
): Promise<MessageInitShape<typeof PlatformSchema>> {
  const all = await platformsOf(context, server);
  const platform = all.find((one) => one.id === id);
  if (platform === undefined) throw unknownPlatform(id);
  return stateOf(context, platform, platform === all[0]);
}

/** @throws ConnectError not_found */
async function serverOf(context: Context, id: string): Promise<PlatformServer> {
  const doc = await context.store.platforms.findOne({ _id: id });
  const server =
    doc?.server ??
    PLATFORM_SERVERS.find((name) => {
      const set = context.configured[name];
      return set !== undefined && configuredId(name, set) === id;
    });
  if (server === undefined || !isPlatformServer(server)) throw unknownPlatform(id);
  return server;
}

function unknownPlatform(id: string) {
  return notFound(`no platform ${id} is registered: \`platforms list\` shows the platforms`);
}
