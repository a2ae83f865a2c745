import type { Context } from "./context.js";
import { SWITCHES_ID, type SwitchesDoc } from "./store.js";

/** What an administrator can turn on and off. */
export interface Switches {
  readonly platformServers: boolean;
  readonly core: boolean;
  readonly ai: boolean;
}

/** Those to turn; the others stay as they are. */
type Turned = { readonly [K in keyof Switches]?: Switches[K] | undefined };

/** As long as nobody has turned one: platform servers on, core off, AI on. */
const DEFAULTS: Switches = { platformServers: true, core: false, ai: true };

/** The switches as they are. */
export async function readSwitches({ store }: Context): Promise<Switches> {
  const doc = await store.switches.findOne({ _id: SWITCHES_ID });
  return doc === null ? DEFAULTS : { platformServers: doc.platform_servers, core: doc.core, ai: doc.ai };
}

/** Turns those switches that are given; the first turn writes the others down as they are. */
export async function writeSwitches({ store }: Context, turned: Turned): Promise<void> {
  const set = recordOf(turned);
  const unset = Object.entries(recordOf(DEFAULTS)).filter(([name]) => !(name in set));
  await store.switches.updateOne(
    { _id: SWITCHES_ID },
    { $set: set, $setOnInsert: Object.fromEntries(unset) },
    { upsert: true },
  );
}

function recordOf({ platformServers, core, ai }: Turned): Partial<Omit<SwitchesDoc, "_id">> {
  return {
    ...(platformServers !== undefined && { platform_servers: platformServers }),
    ...(core !== undefined && { core }),
    ...(ai !== undefined && { ai }),
  };
}
