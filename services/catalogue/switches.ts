import type { Context } from "./context.js";
import { SWITCHES_ID, type SwitchesDoc, type Turned } from "./store.js";

/** What an administrator can turn on and off. */
export interface Switches {
  readonly platformServers: boolean;
  readonly core: boolean;
  readonly ai: boolean;
}

/** Those to turn; the others stay as they are. */
type ToTurn = { readonly [K in keyof Switches]?: Switches[K] | undefined };

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
 * @param by the id of the administrator.
 * @returns false where they are otherwise: nothing is turned then.
 */
export async function writeSwitches(
  context: Context,
  turned: ToTurn,
  { expected, by }: { readonly expected: Switches | undefined; readonly by: string },
): Promise<boolean> {
  const { store } = context;
  const set = { ...recordOf(turned), ...turnsOf(turned, expected ?? (await readSwitches(context)), by) };
  if (expected !== undefined) {
    // What the condition is held against must be there.
    await store.switches.updateOne({ _id: SWITCHES_ID }, { $setOnInsert: recordOf(DEFAULTS) }, { upsert: true });
    const were = { _id: SWITCHES_ID, ...recordOf(expected) };
    return (await store.switches.updateOne(were, { $set: set })).matchedCount > 0;
  }
  const unset = Object.entries(recordOf(DEFAULTS)).filter(([name]) => !(name in set));
  await store.switches.updateOne(
    { _id: SWITCHES_ID },
    { $set: set, $setOnInsert: Object.fromEntries(unset) },
    { upsert: true },
  );
  return true;
}

/** Who last turned each switch. */
export async function readTurns({ store }: Context): Promise<{ readonly [K in keyof Switches]?: Turned | undefined }> {
  const doc = await store.switches.findOne({ _id: SWITCHES_ID });
  return { platformServers: doc?.platform_servers_turned, core: doc?.core_turned, ai: doc?.ai_turned };
}

/** A switch that stays as it was is not turned. */
function turnsOf(turned: ToTurn, before: Switches, by: string): Partial<SwitchesDoc> {
  const turn: Turned = { by, at: new Date() };
  const isTurned = (name: keyof Switches): boolean => turned[name] !== undefined && turned[name] !== before[name];
  return {
    ...(isTurned("platformServers") && { platform_servers_turned: turn }),
    ...(isTurned("core") && { core_turned: turn }),
    ...(isTurned("ai") && { ai_turned: turn }),
  };
}

function recordOf({ platformServers, core, ai }: ToTurn): Partial<Omit<SwitchesDoc, "_id">> {
  return {
    ...(platformServers !== undefined && { platform_servers: platformServers }),
    ...(core !== undefined && { core }),
    ...(ai !== undefined && { ai }),
  };
}
