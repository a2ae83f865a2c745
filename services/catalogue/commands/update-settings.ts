import { EventKind, WatchService } from "#proto/auth/v1/watch_service_pb.js";
import type { UpdateSettingsRequest } from "#proto/catalogue/v1/setting_service_pb.js";
import type { Context } from "../context.js";
import { SWITCHES_ID } from "../store.js";
import { readSwitches, type Switches, writeSwitches } from "../switches.js";

/** Turns switches; returns when every process knows, so that the next request meets them. */
export async function updateSettings(
  context: Context,
  request: UpdateSettingsRequest,
): Promise<{ settings: Switches }> {
  const { platformServers, core, ai } = request;
  if (platformServers !== undefined || core !== undefined || ai !== undefined) {
    await writeSwitches(context, request);
    await context.peers.callAsService(WatchService.method.publish, { kind: EventKind.SETTING, id: SWITCHES_ID });
  }
  return { settings: await readSwitches(context) };
}
