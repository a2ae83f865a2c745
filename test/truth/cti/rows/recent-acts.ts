import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { Stage } from "../stage.js";
import { fresh } from "./changed.js";
import { sighted } from "./links.js";

// Acts that the platform keeps in its history, and that history as it shows it.

/** An act as the platform itself tells a person of it. */
export interface Log {
  readonly timestamp: string;
  readonly event_scope: string;
  readonly user: { readonly name: string } | null;
  readonly context_data: {
    readonly entity_id: string;
    readonly entity_type: string;
    readonly changes: readonly { readonly field: string }[] | null;
  };
}

/** When it was. */
export const time = ({ timestamp }: Log) => Date.parse(timestamp);

const FIELDS = "timestamp event_scope user { name } context_data { entity_id entity_type changes { field } }";
/** All acts but those that only read, as a filter. */
export const KINDS = '{ key: "event_type", values: ["mutation", "create", "update", "delete", "merge"] }';

/** Acts that merged objects, as a filter. */
export const MERGES = '{ key: "event_scope", values: ["merge"] }';

/**
 * What the platform's history shows a person from a moment on, newest first. It is read backwards and no further: the
 * whole history of a platform that was written to for hours takes minutes. The platform searches for the user of each
 * act, and its engine refuses more than 1,000 searches at a time.
 */
export async function logsOf({ platform }: Stage, person: string, since: string, filters = KINDS): Promise<Log[]> {
  const all: Log[] = [];
  const from = Date.parse(since);
  let after: string | null = null;
  for (;;) {
    const query = `query($after: ID) { logs(first: 100, after: $after, orderBy: timestamp, orderMode: desc, filters: { mode: and, filterGroups: [], filters: [${filters}] }) { edges { node { ${FIELDS} } } pageInfo { hasNextPage endCursor } } }`;
    const { logs } = await platform.need(person, query, { after });
    const read: Log[] = logs.edges.map(({ node }: { node: Log }) => node);
    all.push(...read.filter((log) => time(log) >= from));
    const isOver = !logs.pageInfo.hasNextPage || read.length === 0 || time(read.at(-1)!) < from;
    if (isOver) return all;
    after = logs.pageInfo.endCursor;
  }
}

/** Acts of every kind, by several people, on what some see and others do not; after them nothing is looked at. */
export interface Acts {
  readonly since: string;
  readonly until: string;
  readonly malware: string;
  /** The types of all observables, as the platform has them. */
  readonly observables: readonly string[];
}
let made: Promise<Acts> | undefined;

/** The acts, made once. */
export const actsOf = (stage: Stage): Promise<Acts> => {
  made ??= makeActs(stage);
  return made;
};

async function makeActs(stage: Stage): Promise<Acts> {
  const { world, platform } = stage;
  const since = new Date(Date.now() - 1).toISOString();
  const made = (name: string, more: object = {}) =>
    world.make("Malware", { name: fresh(stage, name), confidence: 0, ...more });
  const [malware, hidden, gone, kept, merged, red] = [
    await made("Described"),
    await made("Hidden by and by"),
    await made("Gone soon"),
    await made("Kept one"),
    await made("Merged one"),
    await made("Never seen", world.marked("TLP:RED")),
  ];
  const edit = (person: string, id: string, key: string, value: string) =>
    platform.need(
      person,
      "mutation($id: ID!, $input: [EditInput]!) { stixDomainObjectEdit(id: $id) { fieldPatch(input: $input) { id } } }",
      { id, input: [{ key, value: [value] }] },
    );
  const refer = (id: string, toId: string, relationship_type: string) =>
    platform.need(
      "root",
      "mutation($id: ID!, $to: StixRef!, $type: String!) { stixCoreObjectEdit(id: $id) { relationAdd(input: { toId: $to, relationship_type: $type }) { id } } }",
      { id, to: toId, type: relationship_type },
    );
  await edit("analyst", malware, "description", "what an analyst found");
  await edit("writer", malware, "description", "what somebody wrote after");
  await edit("writer", malware, "is_family", "true");
  await edit("root", hidden, "description", "hidden text");
  await edit("root", red, "description", "red text");
  await refer(malware, world.ids.label!, "object-label");
  await refer(hidden, world.ids["TLP:RED"]!, "object-marking");
  const used = await world.relate(world.ids.set0!, "uses", malware, { confidence: 0 });
  await platform.need(
    "root",
    'mutation($id: ID!) { stixCoreRelationshipEdit(id: $id) { fieldPatch(input: [{ key: "description", value: ["used"] }]) { id } } }',
    { id: used },
  );
  await world.relate(world.ids.set0!, "uses", hidden, { confidence: 0 });
  const seen = await sighted(stage, malware, world.ids.Sector0!);
  await platform.need(
    "root",
    'mutation($id: ID!) { stixSightingRelationshipEdit(id: $id) { fieldPatch(input: [{ key: "description", value: ["seen"] }]) { id } } }',
    { id: seen },
  );
  await sighted(stage, hidden, world.ids.Sector0!);
  await platform.need(
    "root",
    "mutation($id: ID!, $from: [String]!) { stixEdit(id: $id) { merge(stixObjectsIds: $from) { id } } }",
    { id: kept, from: [merged] },
  );
  await platform.need("root", "mutation($id: ID!) { stixCoreObjectEdit(id: $id) { delete } }", { id: gone });
  const ends = async () =>
    (await logsOf(stage, "root", since)).some(
      (one) => one.event_scope === "delete" && one.context_data.entity_id === gone,
    );
  for (let i = 0; i < 60 && !(await ends()); i++) await sleep(1_000);
  expect(await ends()).toBe(true);
  const { subTypes } = await platform.need(
    "root",
    'query { subTypes(type: "Stix-Cyber-Observable") { edges { node { id } } } }',
  );
  const observables = subTypes.edges.map(({ node }: { node: { id: string } }) => node.id);
  return { since, until: new Date().toISOString(), malware, observables };
}
