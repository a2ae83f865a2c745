import { expect } from "vitest";
import { changesBetween, type Standing } from "../../frame/changes.js";
import type { Row } from "../../frame/pages.js";
import type { Case } from "../../frame/table.js";
import { personOf, refuses, type Stage, seenBy } from "../stage.js";
import { ONLY_READERS, OUTSIDE, WRITERS } from "../world.js";

/** Changes by itself with every write. */
const BY_ITSELF = ["updated_at", "standard_id"];

/** Everything that a tool of cti could write, as the platform's administrator sees it. */
async function standing(stage: Stage): Promise<Standing> {
  const root = seenBy(stage, "root");
  const { labels } = await stage.platform.need("root", "{ labels(first: 500) { edges { node { id value } } } }");
  const standing = new Map<string, unknown>(await stage.everything.now());
  for (const { node } of labels.edges) standing.set(node.id, node);
  for (const key of ["report0", "many"]) {
    const id = stage.world.ids[key]!;
    standing.set(`contents of ${id}`, (await root.contents(id))!.map((one) => one.id).sort());
  }
  return standing;
}

/** What a call changed, and what it said. */
export async function changedBy(stage: Stage, person: string, tool: string, args: object) {
  const before = await standing(stage);
  const said = await personOf(stage, person).ask(tool, args);
  const after = await standing(stage);
  return { ...said, changes: changesBetween(before, after, BY_ITSELF), after };
}

/** Proves that a call is refused and changes nothing at all. */
export async function refusedWithoutTrace(
  stage: Stage,
  person: string,
  tool: string,
  args: object,
  words = /./,
): Promise<void> {
  const before = await standing(stage);
  await refuses(stage, person, tool, args, words);
  expect(changesBetween(before, await standing(stage), BY_ITSELF)).toEqual([]);
}

/** The arguments of a call. */
export type Args = (stage: Stage, person: string) => object;

/** Who may not write. */
export const others = (
  tool: string,
  args: Args,
  as: readonly string[] = [...ONLY_READERS, ...OUTSIDE],
): Case<Stage> => ({
  about: "is refused to who may not write, and changes nothing",
  as,
  prove: (stage, person) => refusedWithoutTrace(stage, person, tool, args(stage, person)),
});

/** A call that is refused in some words, and changes nothing. */
export const refused = (
  about: string,
  tool: string,
  args: Args,
  words: RegExp,
  as: readonly string[] = WRITERS,
): Case<Stage> => ({
  about,
  as,
  prove: (stage, person) => refusedWithoutTrace(stage, person, tool, args(stage, person), words),
});

let count = 0;
/** A name that nothing bears yet. */
export const fresh = ({ world }: Stage, what: string) => `${what} ${++count} ${world.run}`;
/** What was written. */
export const object = (result: unknown) => (result as { result: { object: Row } }).result.object;

/** An object that everybody may change: without marking and confidence. */
export const target = (stage: Stage, more: object = {}) =>
  stage.world.make("Malware", { name: fresh(stage, "Target"), confidence: 0, ...more });
