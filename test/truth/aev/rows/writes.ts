import { expect } from "vitest";
import { changesBetween, type Standing } from "../../frame/changes.js";
import type { Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import type { Json } from "../platform.js";
import { inTenant, personOf, refuses, type Stage, seenBy } from "../stage.js";
import { FIRST } from "../world.js";
import { isScenario, isSimulation } from "./objects.js";

/** Who may write in a tenant. */
export const WRITERS = ["administrator", "analyst", "outsider"] as const;
/** Who may not. */
export const READERS = ["reader", "granted", "both", "nobody"] as const;

/** The path of a route in the tenant that somebody works in. */
export const at = (stage: Stage, person: string, route: string): string =>
  `/api/tenants/${stage.world.tenantOf(person)}${route}`;
/** A request of the administrator, who may all. */
export const admin = (stage: Stage, method: string, path: string, body?: object) =>
  stage.platform.need(stage.world.emails.administrator!, method, path, body);

/** Every field of a scenario that a write could change: the answer to one that changes nothing tells all. */
async function whole(stage: Stage, person: string, id: string): Promise<Json> {
  const read = await admin(stage, "GET", at(stage, person, `/scenarios/${id}`));
  const path = at(stage, person, `/scenarios/${id}/tags`);
  return admin(stage, "PUT", path, { scenario_tags: read.scenario_tags ?? [] });
}

/** Everything of the two tenants that a write could reach by mistake. */
export async function standing(stage: Stage): Promise<Standing> {
  const found = new Map<string, unknown>();
  for (const tenant of [FIRST, stage.world.ids.second!]) {
    const seen = seenBy(stage, "administrator", tenant);
    for (const row of await seen.of("scenario"))
      found.set(row.scenario_id, { ...row, scenario_tags: [...(row.scenario_tags ?? [])].sort() });
    for (const row of await seen.of("simulation"))
      found.set(row.exercise_id, { ...row, exercise_targets: inOrder(row) });
    for (const row of await seen.of("tag")) found.set(row.tag_id, row);
    for (const row of await seen.of("payload")) found.set(row.payload_id, row);
    for (const row of await seen.of("atomic")) found.set(row.inject_id, { title: row.inject_title });
    for (const plan of [stage.world.ids.full, stage.world.ids.other0])
      for (const row of (await seen.below(`/scenarios/${plan}/injects/simple`, "inject_id")) ?? [])
        found.set(row.inject_id, { title: row.inject_title, enabled: row.inject_enabled, content: row.inject_content });
  }
  return found;
}

/** The platform gives them in another order each time. */
function inOrder({ exercise_targets: targets = [] }: Json): Json[] {
  return [...targets].sort((a, b) => (a.target_id < b.target_id ? -1 : 1));
}

/** A scenario that is made for one person alone. */
export async function madeBy(stage: Stage, person: string, more: object = {}): Promise<string> {
  const body = { scenario_name: `Made for ${person} ${stage.world.run}`, ...more };
  const { scenario_id: id } = await admin(stage, "POST", at(stage, person, "/scenarios"), body);
  stage.world.removeLater(stage.world.tenantOf(person), `/scenarios/${id}`);
  return id;
}

/** The id of one of two objects: of the tenant that somebody works in. */
export const here = (stage: Stage, person: string, first: string, second: string): string =>
  stage.world.ids[stage.world.tenantOf(person) === FIRST ? first : second]!;

/** Changes by themselves: running simulations, and when something was changed last. */
export const IGNORED = [
  "scenario_updated_at",
  "exercise_updated_at",
  "exercise_global_score",
  "exercise_status",
  "exercise_end_date",
];

/** Tools that write, each compared before and after. */
export const writeTruths: readonly Truth<Stage>[] = [
  {
    tool: "create_scenario",
    cases: [
      {
        about: "makes what was asked for and nothing else",
        as: WRITERS,
        async prove(stage, person) {
          const { world } = stage;
          const label = person === "outsider" ? world.ids.otherTag! : `red-${world.run}`;
          const before = await standing(stage);
          const args = {
            ...inTenant(stage, person),
            name: `  Created by ${person} ${world.run} `,
            description: "What it is about",
            category: "attack-scenario",
            main_focus: "incident-response",
            severity: "medium",
            labels: [label],
          };
          const { scenario } = await personOf(stage, person).get<{ scenario: Row }>("create_scenario", args);
          const seen = seenBy(stage, person);
          const direct = await seen.read(`/scenarios/${scenario.id}`);
          isScenario(scenario, direct, undefined, await seen.labels());
          expect(scenario).toMatchObject({
            name: args.name.trim(),
            severity: "medium",
            main_focus: "incident-response",
          });
          world.removeLater(world.tenantOf(person), `/scenarios/${scenario.id}`);
          expect(changesBetween(before, await standing(stage), IGNORED)).toEqual([`+${scenario.id}`]);
        },
      },
      {
        about: "is refused naming the right, and makes nothing",
        as: [...READERS, "launcher"],
        async prove(stage, person) {
          const before = await standing(stage);
          await refuses(
            stage,
            person,
            "create_scenario",
            { ...inTenant(stage, person), name: `No ${stage.world.run}` },
            /unknown tool|MANAGE_ASSESSMENT/,
          );
          expect(changesBetween(before, await standing(stage), IGNORED)).toEqual([]);
        },
      },
      {
        about: "is refused for labels that there are not, and makes nothing",
        as: ["analyst"],
        async prove(stage, person) {
          const before = await standing(stage);
          const args = { name: `No ${stage.world.run}`, labels: [`other-${stage.world.run}`] };
          await refuses(stage, person, "create_scenario", args, /no label/);
          await refuses(stage, person, "create_scenario", { name: " " }, /name: must be more than blanks/);
          expect(changesBetween(before, await standing(stage), IGNORED)).toEqual([]);
        },
      },
    ],
  },
  {
    tool: "update_scenario",
    cases: [
      {
        about: "changes what was asked for and keeps the rest, on scenarios with and without labels",
        as: WRITERS,
        async prove(stage, person) {
          const labels =
            person === "outsider" ? [stage.world.ids.otherTag!] : [stage.world.ids.red!, stage.world.ids.blue!];
          const full = {
            scenario_description: "Old",
            scenario_subtitle: "Subtitle",
            scenario_severity: "low",
            scenario_external_reference: "EX-7",
            scenario_external_url: "https://example.org/7",
            scenario_message_header: "HEADER",
            scenario_message_footer: "FOOTER",
            scenario_mail_from_name: "Desk",
            scenario_mails_reply_to: ["desk@example.org"],
          };
          for (const [tags, change, changed] of [
            [[], { description: "New" }, ["scenario_description"]],
            [labels, { name: "true", description: "" }, ["scenario_description", "scenario_name"]],
            [labels, { severity: "critical" }, ["scenario_severity"]],
            [labels, { clear_labels: true }, ["scenario_tags"]],
            [[], { labels }, ["scenario_tags"]],
          ] as const) {
            const id = await madeBy(stage, person, { ...full, scenario_tags: tags });
            const before = await whole(stage, person, id);
            const args = { ...inTenant(stage, person), scenario_id: id, ...change };
            const { scenario } = await personOf(stage, person).get<{ scenario: Row }>("update_scenario", args);
            const seen = seenBy(stage, person);
            isScenario(scenario, await seen.read(`/scenarios/${id}`), undefined, await seen.labels());
            const after = await whole(stage, person, id);
            const keys = changesBetween(new Map([["it", before]]), new Map([["it", after]]), IGNORED);
            expect(keys.map((key) => key.replace("it.", ""))).toEqual([...changed]);
          }
        },
      },
      {
        about: "is refused naming the right, and changes nothing",
        as: [...READERS],
        async prove(stage, person) {
          const before = await standing(stage);
          const args = {
            ...inTenant(stage, person),
            scenario_id: here(stage, person, "full", "other1"),
            description: "No",
          };
          await refuses(
            stage,
            person,
            "update_scenario",
            args,
            /unknown tool|MANAGE_ASSESSMENT|there is no|ACCESS_ASSESSMENT/,
          );
          expect(changesBetween(before, await standing(stage), IGNORED)).toEqual([]);
        },
      },
      {
        about: "is done by who has a grant on it",
        as: ["launcher"],
        async prove(stage, person) {
          const id = stage.world.ids.twin0!;
          const before = await whole(stage, person, id);
          await personOf(stage, person).get("update_scenario", { scenario_id: id, category: "false" });
          const changes = changesBetween(
            new Map([["it", before]]),
            new Map([["it", await whole(stage, person, id)]]),
            IGNORED,
          );
          expect(changes).toEqual(["it.scenario_category"]);
        },
      },
      {
        about: "reaches nothing of another tenant",
        as: WRITERS,
        async prove(stage, person) {
          const { ids } = stage.world;
          const before = await standing(stage);
          const args = { ...inTenant(stage, person), scenario_id: person === "outsider" ? ids.full : ids.other0 };
          await refuses(stage, person, "update_scenario", { ...args, description: "No" }, /there is no/);
          await refuses(stage, person, "delete_scenario", args, /there is no/);
          await refuses(stage, person, "launch_scenario", args, /there is no/);
          expect(changesBetween(before, await standing(stage), IGNORED)).toEqual([]);
        },
      },
    ],
  },
  {
    tool: "delete_scenario",
    cases: [
      {
        about: "takes away that one and nothing else, and names the simulations that stay",
        as: WRITERS,
        async prove(stage, person) {
          const id = await madeBy(stage, person);
          const run = await admin(stage, "POST", at(stage, person, `/scenarios/${id}/exercise/running`), {});
          stage.world.removeLater(stage.world.tenantOf(person), `/exercises/${run.exercise_id}`);
          const before = await standing(stage);
          const args = { ...inTenant(stage, person), scenario_id: id };
          const told = await personOf(stage, person).get<Json>("delete_scenario", args);
          expect(told.deleted.id).toBe(id);
          expect(told.simulations.map((one: Json) => one.id)).toEqual([run.exercise_id]);
          expect(changesBetween(before, await standing(stage), IGNORED)).toEqual([`-${id}`]);
          await refuses(stage, person, "delete_scenario", args, /there is no/);
        },
      },
      {
        about: "is refused naming the right, and takes nothing away",
        as: [...READERS],
        async prove(stage, person) {
          const before = await standing(stage);
          const args = { ...inTenant(stage, person), scenario_id: here(stage, person, "full", "other1") };
          await refuses(
            stage,
            person,
            "delete_scenario",
            args,
            /unknown tool|DELETE_ASSESSMENT|there is no|ACCESS_ASSESSMENT/,
          );
          expect(changesBetween(before, await standing(stage), IGNORED)).toEqual([]);
        },
      },
    ],
  },
  {
    tool: "launch_scenario",
    cases: [
      {
        about: "launches it once, and tells the simulation that runs",
        as: [...WRITERS, "launcher"],
        async prove(stage, person) {
          const id = person === "launcher" ? stage.world.ids.twin0! : await madeBy(stage, person);
          const before = await standing(stage);
          const args = { ...inTenant(stage, person), scenario_id: id };
          const told = await personOf(stage, person).get<Json>("launch_scenario", args);
          stage.world.removeLater(stage.world.tenantOf(person), `/exercises/${told.simulation.id}`);
          expect(told.simulation).toMatchObject({ scenario: { id } });
          const changes = changesBetween(before, await standing(stage), IGNORED);
          expect(changes).toEqual([`+${told.simulation.id}`]);
          const direct = await admin(stage, "GET", at(stage, person, `/exercises/${told.simulation.id}`));
          isSimulation(told.simulation, direct, undefined, await seenBy(stage, person).labels());
        },
      },
      {
        about: "is refused naming the right, and launches nothing",
        as: [...READERS],
        async prove(stage, person) {
          const before = await standing(stage);
          const args = { ...inTenant(stage, person), scenario_id: here(stage, person, "full", "other1") };
          await refuses(
            stage,
            person,
            "launch_scenario",
            args,
            /unknown tool|LAUNCH_ASSESSMENT|there is no|ACCESS_ASSESSMENT/,
          );
          expect(changesBetween(before, await standing(stage), IGNORED)).toEqual([]);
        },
      },
    ],
  },
  {
    tool: "set_simulation_status",
    cases: [
      {
        about: "brings a simulation to each state that may follow, and says which may where none may",
        as: WRITERS,
        async prove(stage, person) {
          const name = `States of ${person} ${stage.world.run}`;
          const { exercise_id: id } = await admin(stage, "POST", at(stage, person, "/exercises"), {
            exercise_name: name,
          });
          stage.world.removeLater(stage.world.tenantOf(person), `/exercises/${id}`);
          const set = (status: string) =>
            personOf(stage, person).ask("set_simulation_status", {
              ...inTenant(stage, person),
              simulation_id: id,
              status,
            });
          expect((await set("paused")).refusal).toMatch(/is scheduled.*can become running/);
          for (const status of ["running", "paused", "running", "canceled"]) {
            const { result, refusal } = await set(status);
            expect(refusal).toBe("");
            expect(result).toMatchObject({ changed: true });
            const direct = await admin(stage, "GET", at(stage, person, `/exercises/${id}`));
            expect(direct.exercise_status.toLowerCase()).toBe(status);
            isSimulation(result!.simulation as Row, direct, undefined, await seenBy(stage, person).labels());
          }
          expect((await set("canceled")).result).toMatchObject({ changed: false });
          expect((await set("running")).refusal).toMatch(/is canceled/);
          for (const word of ["scheduled", "finished"]) {
            const { refusal } = await set(word);
            expect(refusal).toMatch(/must be one of running, paused, canceled/);
            expect(refusal).not.toMatch(/\b[015]\b/);
          }
        },
      },
      {
        about: "is refused naming the right, and changes nothing",
        as: [...READERS],
        async prove(stage, person) {
          const before = await standing(stage);
          const args = {
            ...inTenant(stage, person),
            simulation_id: here(stage, person, "running", "otherRun"),
            status: "paused",
          };
          const words = /unknown tool|LAUNCH_ASSESSMENT|there is no|ACCESS_ASSESSMENT/;
          await refuses(stage, person, "set_simulation_status", args, words);
          expect(changesBetween(before, await standing(stage), IGNORED)).toEqual([]);
        },
      },
    ],
  },
];
