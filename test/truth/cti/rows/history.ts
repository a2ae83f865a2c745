import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { Truth } from "../../frame/table.js";
import { holdsNothingHidden, personOf, refuses, type Stage, seenBy } from "../stage.js";
import { READERS } from "../world.js";
import { fresh } from "./changed.js";
import { outside } from "./reading.js";

interface Entry {
  readonly at: string;
  readonly act: string;
  readonly message?: string;
}

/** What a person is told of the history of something. */
async function historyOf(stage: Stage, person: string, object_id: string): Promise<readonly Entry[]> {
  const said = await personOf(stage, person).get<{ entries?: Entry[] }>("list_entity_changes", {
    object_id,
    page_size: 100,
  });
  await holdsNothingHidden(stage, person, JSON.stringify(said));
  return said.entries ?? [];
}

interface Log {
  readonly timestamp: string;
  readonly event_scope: string;
  readonly context_data: { readonly message: string };
}

/** What the platform itself tells them. */
async function logsOf({ platform }: Stage, person: string, id: string): Promise<Log[]> {
  const query = `query($id: [Any!]!) { logs(first: 100, orderBy: timestamp, orderMode: desc, filters: { mode: and, filterGroups: [], filters: [{ key: "context_data.id", values: $id }, { key: "event_type", values: ["mutation", "create", "update", "delete", "merge"] }] }) { edges { node { timestamp event_scope context_data { message } } } } }`;
  const { data } = await platform.call(person, query, { id: [id] });
  return data.logs.edges.map(({ node }: { node: Log }) => node);
}

/** Waits until the platform has indexed so many acts. */
async function untilKnown(stage: Stage, id: string, acts: number): Promise<void> {
  for (let i = 0; i < 60; i++) {
    if ((await logsOf(stage, "root", id)).length >= acts) return;
    await sleep(1_000);
  }
  throw new Error(`the platform has no history of ${id}`);
}

interface Hidden {
  /** Marked so that few see it, after all was written. */
  readonly malware: string;
  /** Leads to it. */
  readonly relationship: string;
  /** Deleted, and seen by everybody before. */
  readonly gone: string;
}
let made: Promise<Hidden> | undefined;

/** Objects that were hidden, or deleted, after they had a history; made once. */
async function makeHidden(stage: Stage): Promise<Hidden> {
  const { world, platform } = stage;
  const [malware, gone] = [
    await world.make("Malware", { name: fresh(stage, "Hidden later") }),
    await world.make("Malware", { name: fresh(stage, "Deleted later") }),
  ];
  const relationship = await world.relate(world.ids.set0!, "uses", malware, { confidence: 0 });
  await untilKnown(stage, relationship, 1);
  const add =
    'mutation($id: ID!, $to: StixRef!) { stixCoreObjectEdit(id: $id) { relationAdd(input: { toId: $to, relationship_type: "object-marking" }) { id } } }';
  await platform.need("root", add, { id: malware, to: world.ids["TLP:RED"] });
  await platform.need("root", "mutation($id: ID!) { stixCoreObjectEdit(id: $id) { delete } }", { id: gone });
  await untilKnown(stage, malware, 2);
  await untilKnown(stage, gone, 2);
  return { malware, relationship, gone };
}

/** What happened to an object. */
export const historyTruths: readonly Truth<Stage>[] = [
  {
    tool: "list_entity_changes",
    cases: [
      {
        about: "has what the platform's history of the object has, newest first",
        as: READERS,
        async prove(stage, person) {
          for (const key of ["malware0", "malware4", "label"]) {
            const id = stage.world.ids[key]!;
            if (key !== "malware0" && (await seenBy(stage, person).object(id)) === undefined) continue;
            const direct = await logsOf(stage, person, id);
            const told = (await historyOf(stage, person, id)).map(({ at, act }) => `${Date.parse(at)} ${act}`);
            expect(told).toEqual(direct.map((one) => `${Date.parse(one.timestamp)} ${one.event_scope}`));
          }
        },
      },
      {
        about: "names no end of a relationship that was hidden since, and has no history of what is hidden",
        as: READERS,
        async prove(stage, person) {
          made ??= makeHidden(stage);
          const { malware, relationship, gone } = await made;
          const sees = (await seenBy(stage, person).object(malware)) !== undefined;
          const direct = await logsOf(stage, person, relationship);
          const told = await historyOf(stage, person, relationship);
          expect(told.map(({ act }) => act)).toEqual(direct.map(({ event_scope }) => event_scope));
          // The platform goes by the markings that the end had when the sentence was written.
          expect(direct.at(-1)?.context_data.message).toContain("Hidden later");
          expect(told.at(-1)?.message ?? "").toBe(sees ? direct.at(-1)?.context_data.message : "");
          if (sees) expect((await historyOf(stage, person, malware)).length).toBe(2);
          else await refuses(stage, person, "list_entity_changes", { object_id: malware }, /visible to you/);
          expect((await historyOf(stage, person, gone)).map(({ act }) => act)).toEqual(["delete", "create"]);
        },
      },
      outside("list_entity_changes", ({ world }) => ({ object_id: world.ids.malware0 })),
    ],
  },
];
