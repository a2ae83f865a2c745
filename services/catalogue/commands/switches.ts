import { EventKind, WatchService } from "#proto/auth/v1/watch_service_pb.js";
import type { Context } from "../context.js";
import { SWITCHES_ID, type SwitchesDoc } from "../store.js";

export type Switches = Omit<SwitchesDoc, "_id">;

/** As long as nobody has turned one: platform servers on, core off, AI on. */
export const DEFAULT_SWITCHES: Switches = { platformServers: true, core: false, ai: true };

export async function getSwitches({ store }: Context): Promise<Switches> {
  const { platformServers, core, ai } = (await store.switches.findOne({ _id: SWITCHES_ID })) ?? DEFAULT_SWITCHES;
  return { platformServers, core, ai };
}

/** Turns switches; returns when every process knows, so that the next request meets them. */
export async function updateSwitches(
  changes: { readonly [K in keyof Switches]?: Switches[K] | undefined },
  context: Context,
): Promise<Switches> {
  const set = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
  if (Object.keys(set).length > 0) {
    const unset = Object.entries(DEFAULT_SWITCHES).filter(([name]) => !(name in set));
    await context.store.switches.updateOne(
      { _id: SWITCHES_ID },
      { $set: set, $setOnInsert: Object.fromEntries(unset) },
      { upsert: true },
    );
    await context.peers.callAsService(WatchService.method.publish, { kind: EventKind.SETTING, id: SWITCHES_ID });
  }
  return getSwitches(context);
}
