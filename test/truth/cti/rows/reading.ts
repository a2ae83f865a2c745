import type { Row } from "../../frame/pages.js";
import type { Node } from "../platform.js";
import { holdsNothingHidden, personOf, refuses, type Stage, seenBy } from "../stage.js";
import { OUTSIDE } from "../world.js";

/** Who may not read. */
export const outside = (tool: string, args: (stage: Stage) => object) => ({
  about: "is refused to who may not read",
  as: OUTSIDE,
  prove: (stage: Stage, person: string) => refuses(stage, person, tool, args(stage)),
});

/** What a tool says of an object that somebody may see, and that it is unknown to whom it is hidden. */
export async function readOrUnknown(
  stage: Stage,
  person: string,
  tool: string,
  argument: string,
  id: string,
): Promise<{ node: Node; said: Row } | undefined> {
  const node = await seenBy(stage, person).object(id);
  if (node === undefined) {
    await refuses(stage, person, tool, { [argument]: id }, /exists or is visible|not visible/);
    return undefined;
  }
  const said = await personOf(stage, person).get<Row>(tool, { [argument]: id });
  await holdsNothingHidden(stage, person, JSON.stringify(said));
  return { node, said };
}

/** Ids, sorted. */
export const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id).sort();

/** The relationships of an object that a person sees at the platform. */
export async function relationshipsOf(stage: Stage, person: string, id: string): Promise<Node[]> {
  return (await seenBy(stage, person).relationships()).filter(({ fromId, toId }) => fromId === id || toId === id);
}

/** Objects of every kind, hidden from some. */
export const SOME = [
  "malware0",
  "malware4",
  "set0",
  "report0",
  "ip0",
  "note1",
  "many",
  "technique",
  "patternOnly",
] as const;

/** The ids of the sightings that a person sees at the platform. */
export const sightingIdsOf = async ({ platform }: Stage, person: string): Promise<readonly string[]> =>
  (await platform.list(person, "stixSightingRelationships", "id")).map(({ id }) => id);
