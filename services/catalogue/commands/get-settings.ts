import type { Context } from "../context.js";
import { readSwitches, type Switches } from "../switches.js";

/** The switches as they are. */
export async function getSettings(context: Context): Promise<{ settings: Switches }> {
  return { settings: await readSwitches(context) };
}
