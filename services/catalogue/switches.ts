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

/**
 * Turns those switches that are given; the first turn writes the others down as they are.
 *
 * @param expected how they must be now; undefined for however they are.
 * @returns false where they are otherwise: nothing is turned then.
 */
export async function writeSwitches(
  context: Context,
  turned: Turned,
  expected: Switches | undefined,
): Promise<boolean> {
  const { store } = context;
  if (expected !== undefined) {
    // What the condition is held against must be there.
    await store.switches.updateOne({ _id: SWITCHES_ID }, { $setOnInsert: recordOf(DEFAULTS) }, { upsert: true });
    const were = { _id: SWITCHES_ID, ...recordOf(expected) };
    return (await store.switches.updateOne(were, { $set: recordOf(turned) })).matchedCount > 0;
  }
  const set = recordOf(turned);
  const unset = Object.entries(recordOf(DEFAULTS)).filter(([name]) => !(name in set));
  await store.switches.updateOne(
    { _id: SWITCHES_ID },
    { $set: set, $setOnInsert: Object.fromEntries(unset) },
    { upsert: true },
  );
  return true;
}

function recordOf({ platformServers, core, ai }: Turned): Partial<Omit<SwitchesDoc, "_id">> {
  return {
    ...(platformServers !== undefined && { platform_servers: platformServers }),
    ...(core !== undefined && { core }),
    ...(ai !== undefined && { ai }),
  };
}
