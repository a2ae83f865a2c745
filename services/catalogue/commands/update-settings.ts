import { EventKind, WatchService } from "#proto/auth/v1/watch_service_pb.js";
import type { UpdateSettingsRequest } from "#proto/catalogue/v1/setting_service_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import { aborted } from "../../shared/rpc/errors.js";
import type { Context } from "../context.js";
import { SWITCHES_ID } from "../store.js";
import { readSwitches, type Switches, writeSwitches } from "../switches.js";

/** Turns switches; returns when every process knows, so that the next request meets them. */
export async function updateSettings(
  context: Context,
  request: UpdateSettingsRequest,
  { caller }: Call,
): Promise<{ settings: Switches }> {
  const { platformServers, core, ai, expected } = request;
  if (platformServers !== undefined || core !== undefined || ai !== undefined) {
    if (!(await writeSwitches(context, request, { expected, by: caller.id })))
      throw aborted("somebody else changed the switches since you read them: nothing was turned; read them again");
    await context.peers.callAsService(WatchService.method.publish, { kind: EventKind.SETTING, id: SWITCHES_ID });
  }
  return { settings: await readSwitches(context) };
}
