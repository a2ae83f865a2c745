import { type CatalogueStore, SWITCHES_ID } from "./store.js";

/** What was switched off or taken back since the backup, and is so again. */
export interface SwitchedOff {
  readonly switches: number;
  readonly registrationTokens: number;
  readonly platforms: number;
}

/** Switches off in a restored store what the store that it replaces has off, takes its registration tokens back and forgets its platforms. */
export async function replayCatalogue(old: CatalogueStore, restored: CatalogueStore): Promise<SwitchedOff> {
  let registrationTokens = 0;
  for await (const { _id } of restored.registrationTokens.find({})) {
    if ((await old.registrationTokens.findOne({ _id })) !== null) continue;
    await restored.registrationTokens.deleteOne({ _id });
    registrationTokens++;
  }
  return {
    switches: await switchOff(old, restored),
    registrationTokens,
    platforms: await forgetPlatforms(old, restored),
  };
}

async function forgetPlatforms(old: CatalogueStore, restored: CatalogueStore): Promise<number> {
  let forgotten = 0;
  for await (const { _id } of restored.platforms.find({})) {
    if ((await old.platforms.findOne({ _id })) !== null) continue;
    await restored.platforms.deleteOne({ _id });
    forgotten++;
  }
  return forgotten;
}

async function switchOff(old: CatalogueStore, restored: CatalogueStore): Promise<number> {
  const now = await old.switches.findOne({ _id: SWITCHES_ID });
  const before = await restored.switches.findOne({ _id: SWITCHES_ID });
  if (now === null || before === null) return 0;
  const names = ["platform_servers", "core", "ai"] as const;
  const off = names.filter((name) => before[name] && !now[name]);
  if (off.length > 0) {
    const set = Object.fromEntries(off.map((name) => [name, false]));
    await restored.switches.updateOne({ _id: SWITCHES_ID }, { $set: set });
  }
  return off.length;
}
