import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { type Known, leaksIn } from "../frame/leaks.js";
import { everyPage, type Read, type Reading } from "../frame/pages.js";
import { type Person, type Product, startProduct } from "../frame/product.js";
import { RealPlatform } from "./platform.js";
import { Seen } from "./seen.js";
import { Everything } from "./standing.js";
import { makeWorld, PEOPLE, READERS, type World } from "./world.js";

/** Everything that a truth test of cti looks at. */
export interface Stage {
  readonly platform: RealPlatform;
  readonly product: Product;
  readonly world: World;
  readonly everything: Everything;
}

/**
 * Starts the product in front of the real platform and fills it.
 *
 * @param issuer the address of the product that the platform was told to trust.
 */
export async function startStage(at: {
  readonly url: string;
  readonly token: string;
  readonly issuer: string;
}): Promise<Stage> {
  const platform = new RealPlatform(at);
  const world = await makeWorld(platform);
  const { port } = new URL(at.issuer);
  const env = {
    CTI_URL: at.url,
    CTI_PUBLIC_URL: at.url,
    PORT: port,
    BASE_URL: at.issuer,
    REGISTRATION_TOKEN: "registration",
  };
  const product = await startProduct("cti", env, Object.fromEntries(PEOPLE.map((name) => [name, world.emails[name]!])));
  const stage = { platform, product, world, everything: new Everything(new Seen(platform, "root")) };
  for (const name of READERS) await untilKnown(stage, name);
  return stage;
}

/** The platform asks for new keys of its issuer every 30 seconds at most. */
async function untilKnown(stage: Stage, name: string): Promise<void> {
  let said = "";
  for (let i = 0; i < 90; i++) {
    said = (await personOf(stage, name).ask("whoami")).refusal;
    if (said === "") return;
    await sleep(1_000);
  }
  throw new Error(`${name} is not known: ${said}`);
}

/** Somebody at the product. */
export const personOf = ({ product }: Stage, name: string): Person => product.people[name]!;

/** What somebody sees at the platform. */
export const seenBy = ({ platform }: Stage, name: string): Seen => new Seen(platform, name);

/** A text that names nothing that a person may not see now. */
export async function holdsNothingHidden(stage: Stage, person: string, text: string): Promise<void> {
  const ofRun = ({ id, name }: Known): Known => ({ id, name: name?.includes(stage.world.run) ? name : undefined });
  const all = (await stage.everything.known()).map(ofRun);
  // What is named at all is mostly nothing, and then nobody has to be asked what is visible.
  const named = leaksIn(text, all, []);
  if (named.length === 0) return;
  const visible = (await seenBy(stage, person).everything()).map(ofRun);
  expect(leaksIn(text, all, visible)).toEqual([]);
}

/** Reads a list through all its pages, and proves what is true of every list: no row twice, one total, nothing hidden. */
export async function readWhole(stage: Stage, person: string, reading: Reading): Promise<Read> {
  const read = await everyPage(personOf(stage, person), reading);
  expect(read.repeated).toEqual([]);
  expect(new Set(read.totals)).toEqual(new Set([read.rows.length]));
  await holdsNothingHidden(stage, person, read.text);
  return read;
}

/** Proves that a tool refuses in words, and tells nothing hidden in doing so. */
export async function refuses(stage: Stage, person: string, tool: string, args: object, words = /./): Promise<void> {
  const { refusal, text } = await personOf(stage, person).ask(tool, args);
  expect(refusal).toMatch(words);
  expect(refusal).not.toMatch(/internal error|cannot be read|service's log/i);
  const asked = Object.values(args).flat().map(String);
  await holdsNothingHidden(
    stage,
    person,
    asked.reduce((left, one) => left.replaceAll(one, "-"), text),
  );
}
