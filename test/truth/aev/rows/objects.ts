import { expect } from "vitest";
import type { Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import type { Json } from "../platform.js";
import { holdsNothingHidden, inTenant, personOf, readWhole, refuses, type Stage, seenBy } from "../stage.js";
import { FIRST } from "../world.js";
import { NO_RIGHT, SEERS } from "./lists.js";

/** What nobody finds. */
export const UNKNOWN = "00000000-0000-4000-8000-000000000000";
/** The sentence of who may not, or for what is not there. */
export const NOT_THERE = /unknown tool|there is no|ACCESS_ASSESSMENT|OBSERVER/i;

const instant = (at: unknown): number => Date.parse(String(at ?? ""));
/** The ids of rows, in order. */
export const ids = (rows: unknown): string[] => ((rows ?? []) as Json[]).map(({ id }) => id).sort();

/** A scenario as a tool tells it, against what the platform says of it. */
export function isScenario(told: Row, direct: Json, row: Json | undefined, labels: ReadonlyMap<string, string>): void {
  expect(told).toMatchObject({ id: direct.scenario_id, name: direct.scenario_name });
  expect(told.description).toBe(direct.scenario_description || undefined);
  expect(told.category).toBe(direct.scenario_category || undefined);
  expect(told.main_focus).toBe(direct.scenario_main_focus || undefined);
  expect(told.severity).toBe(direct.scenario_severity ?? undefined);
  const tags = ((direct.scenario_tags ?? []) as string[]).map((id) => labels.get(id));
  expect([...((told.labels as string[]) ?? [])].sort()).toEqual(tags.sort());
  // What was never changed says so by leaving it out.
  expect(instant(told.updated_at ?? told.created_at)).toBe(instant(direct.scenario_updated_at));
  expect(told.players).toBe(direct.scenario_users_number ?? undefined);
  if (row !== undefined) expect(told.recurrence).toBe(row.scenario_recurrence ?? undefined);
}

/** A simulation as a tool tells it, against what the platform says of it. */
export function isSimulation(
  told: Row,
  direct: Json,
  row: Json | undefined,
  labels: ReadonlyMap<string, string>,
): void {
  expect(told).toMatchObject({ id: direct.exercise_id, name: direct.exercise_name });
  expect(told.status).toBe(direct.exercise_status.toLowerCase());
  expect(told.description).toBe(direct.exercise_description || undefined);
  expect((told.scenario as Json)?.id).toBe(direct.exercise_scenario ?? undefined);
  expect(instant(told.started_at)).toEqual(instant(direct.exercise_start_date));
  expect(instant(told.ended_at)).toEqual(instant(direct.exercise_end_date));
  const tags = ((direct.exercise_tags ?? []) as string[]).map((id) => labels.get(id));
  expect([...((told.labels as string[]) ?? [])].sort()).toEqual(tags.sort());
  if (row === undefined) return;
  expect(ids(told.targets)).toEqual(row.exercise_targets.map((one: Json) => one.target_id).sort());
  expect(((told.results ?? []) as Json[]).map(({ kind, outcome }) => [kind, outcome])).toEqual(
    row.exercise_global_score.map((one: Json) => [one.type.toLowerCase(), one.avgResult.toLowerCase()]),
  );
}

/** Tools that read one object, and who one is. */
export const objectTruths: readonly Truth<Stage>[] = [
  {
    tool: "whoami",
    cases: [
      {
        about: "says who the platform takes one for, and what one may do where",
        as: SEERS,
        async prove(stage, person) {
          const email = stage.world.emails[person]!;
          const me = await stage.platform.need(email, "GET", "/api/me");
          const tenants: Json[] = await stage.platform.need(email, "GET", "/api/me/tenants");
          const told = await personOf(stage, person).get<Row>("whoami");
          expect(told).toMatchObject({
            id: me.user_id,
            email: me.user_email,
            unrestricted: me.user_is_admin_or_bypass,
          });
          const rows = (told.tenants ?? []) as Json[];
          expect(ids(rows)).toEqual(tenants.map(({ tenant_id }) => tenant_id).sort());
          const first = rows.find(({ id }) => id === FIRST);
          if (first !== undefined)
            expect([...(first.capabilities ?? [])].sort()).toEqual([...me.user_capabilities].sort());
          for (const row of rows.filter(({ id }) => id !== FIRST)) {
            const seen = seenBy(stage, person, row.id);
            const told = new Set(row.capabilities as string[]);
            expect(told.has("ACCESS_ASSETS") || me.user_is_admin_or_bypass).toBe(
              (await seen.mayList("endpoint")) !== undefined,
            );
            expect(told.has("ACCESS_FINDINGS") || me.user_is_admin_or_bypass).toBe(
              (await seen.mayList("finding")) !== undefined,
            );
          }
          const grants = ((told.grants ?? []) as Json[]).map(({ object, level }) => [object.id, level]);
          expect(Object.fromEntries(grants)).toEqual(
            Object.fromEntries(Object.entries(me.user_grants).map(([id, level]) => [id, String(level).toLowerCase()])),
          );
        },
      },
      {
        about: "tells who has no account so",
        as: ["stranger"],
        prove: (stage, person) => refuses(stage, person, "whoami", {}, /no account/),
      },
    ],
  },
  {
    tool: "get_scenario",
    cases: [
      {
        about: "tells of every scenario what the platform says",
        as: SEERS,
        async prove(stage, person) {
          const seen = seenBy(stage, person);
          const labels = await seen.labels();
          const rows = await seen.of("scenario");
          for (const row of rows
            .filter(({ scenario_name: name }) => name.includes(stage.world.run) || name === "true")
            .slice(0, 25)) {
            const direct = await seen.read(`/scenarios/${row.scenario_id}`);
            const args = { ...inTenant(stage, person), scenario_id: row.scenario_id };
            const { result, text, refusal } = await personOf(stage, person).ask("get_scenario", args);
            expect(refusal).toBe("");
            const told = result!.scenario as Row;
            isScenario(told, direct, row, labels);
            expect([...((told.platforms ?? []) as string[])].sort()).toEqual(
              [...(direct.scenario_platforms ?? [])].sort(),
            );
            expect(ids(told.simulations)).toEqual([...(direct.scenario_exercises ?? [])].sort());
            // The platform itself names simulations here that a grant on the scenario does not reach.
            const named = (direct.scenario_exercises ?? []) as string[];
            await holdsNothingHidden(
              stage,
              person,
              named.reduce((left, id) => left.replaceAll(id, "-"), text),
            );
          }
        },
      },
      {
        about: "finds nothing of another tenant and nothing unknown",
        as: SEERS,
        async prove(stage, person) {
          const { world } = stage;
          const elsewhere = stage.world.tenantOf(person) !== FIRST ? world.ids.full! : world.ids.other0!;
          for (const id of [elsewhere, UNKNOWN, world.ids.running!]) {
            await refuses(stage, person, "get_scenario", { ...inTenant(stage, person), scenario_id: id }, NOT_THERE);
          }
        },
      },
    ],
  },
  {
    tool: "get_simulation",
    cases: [
      {
        about: "tells of every simulation what the platform says, targets and results too",
        as: SEERS,
        async prove(stage, person) {
          const seen = seenBy(stage, person);
          const labels = await seen.labels();
          const rows = (await seen.of("simulation")).filter(({ exercise_name: name }) =>
            name.includes(stage.world.run),
          );
          for (const row of rows.slice(0, 25)) {
            const direct = await seen.read(`/exercises/${row.exercise_id}`);
            const args = { ...inTenant(stage, person), simulation_id: row.exercise_id };
            const { simulation } = await personOf(stage, person).get<{ simulation: Row }>("get_simulation", args);
            isSimulation(simulation, direct, row, labels);
          }
        },
      },
      {
        about: "finds nothing of another tenant and nothing unknown",
        as: SEERS,
        async prove(stage, person) {
          const { world } = stage;
          const elsewhere = stage.world.tenantOf(person) !== FIRST ? world.ids.running! : world.ids.otherRun!;
          for (const id of [elsewhere, UNKNOWN, world.ids.full!]) {
            await refuses(
              stage,
              person,
              "get_simulation",
              { ...inTenant(stage, person), simulation_id: id },
              NOT_THERE,
            );
          }
        },
      },
    ],
  },
  {
    tool: "get_simulation_results",
    cases: [
      {
        about: "tells what the platform says",
        as: SEERS,
        async prove(stage, person) {
          const seen = seenBy(stage, person);
          for (const key of stage.world.tenantOf(person) !== FIRST ? ["otherRun"] : ["running", "canceled", "run0"]) {
            const id = stage.world.ids[key]!;
            const args = { ...inTenant(stage, person), simulation_id: id };
            const direct = await seen.read(`/exercises/${id}/results`);
            if (direct === undefined) {
              await refuses(stage, person, "get_simulation_results", args, NOT_THERE);
              continue;
            }
            const told = await personOf(stage, person).get<Json>("get_simulation_results", args);
            expect((told.results ?? []).map((one: Json) => [one.kind, one.outcome])).toEqual(
              direct.map((one: Json) => [one.type.toLowerCase(), one.avgResult.toLowerCase()]),
            );
            for (const [i, one] of (told.results ?? []).entries()) {
              const counts = Object.fromEntries((one.counts ?? []).map(({ outcome, count }: Json) => [outcome, count]));
              for (const { id: word, value } of direct[i].distribution ?? [])
                expect(counts[word.toLowerCase()] ?? 0).toBe(value);
            }
          }
        },
      },
    ],
  },
  {
    tool: "list_injects",
    cases: [
      {
        about: "gives the injects of a scenario once, in the order of their time",
        as: SEERS,
        async prove(stage, person) {
          const key = stage.world.tenantOf(person) !== FIRST ? "other0" : person === "launcher" ? "twin0" : "full";
          const id = stage.world.ids[key]!;
          const direct = await seenBy(stage, person).below(`/scenarios/${id}/injects/simple`, "inject_id");
          const args = { ...inTenant(stage, person), scenario_id: id };
          if (direct === undefined) {
            await refuses(stage, person, "list_injects", args, NOT_THERE);
            return;
          }
          const { rows } = await readWhole(stage, person, {
            tool: "list_injects",
            rows: "injects",
            args,
            pageSize: 4,
          });
          expect(ids(rows)).toEqual(direct.map(({ inject_id }) => inject_id).sort());
          const delays = rows.map((row) => row.delay_seconds as number);
          expect(delays).toEqual([...delays].sort((a, b) => a - b));
          for (const row of rows) {
            const one = direct.find(({ inject_id }) => inject_id === row.id);
            expect(row).toMatchObject({
              title: one.inject_title,
              enabled: one.inject_enabled,
              ready: one.inject_ready,
            });
            expect(row.delay_seconds).toBe(one.inject_depends_duration);
            const lists = [one.inject_assets, one.inject_asset_groups, one.inject_teams] as (string[] | null)[];
            expect(row.target_count).toBe(new Set(lists.flatMap((list) => list ?? [])).size);
          }
        },
      },
      {
        about: "gives the injects of a simulation once, with their targets where asked",
        as: SEERS,
        async prove(stage, person) {
          const id = stage.world.ids[stage.world.tenantOf(person) !== FIRST ? "otherRun" : "running"]!;
          const direct = await seenBy(stage, person).below(`/exercises/${id}/injects/search`, "inject_id");
          const timed = await seenBy(stage, person).below(`/exercises/${id}/injects/simple`, "inject_id");
          const delayOf = new Map((timed ?? []).map((one) => [one.inject_id, one.inject_depends_duration as number]));
          const args = { ...inTenant(stage, person), simulation_id: id, with_targets: true };
          if (direct === undefined) {
            await refuses(stage, person, "list_injects", args, NOT_THERE);
            return;
          }
          const { rows } = await readWhole(stage, person, {
            tool: "list_injects",
            rows: "injects",
            args,
            pageSize: 4,
          });
          expect(ids(rows)).toEqual(direct.map(({ inject_id }) => inject_id).sort());
          const delays = rows.map((row) => delayOf.get(row.id) ?? -1);
          expect(delays).toEqual([...delays].sort((a, b) => a - b));
          for (const row of rows) {
            const one = direct.find(({ inject_id }) => inject_id === row.id);
            expect(row.title).toBe(one.inject_title);
            expect(ids(row.targets)).toEqual((one.inject_targets ?? []).map((target: Json) => target.target_id).sort());
            expect(row.target_count).toBe((one.inject_targets ?? []).length);
          }
        },
      },
      {
        about: "finds nothing of another tenant and nothing unknown",
        as: SEERS,
        async prove(stage, person) {
          const { world } = stage;
          const [scenario, simulation] =
            stage.world.tenantOf(person) !== FIRST ? ["full", "running"] : ["other0", "otherRun"];
          const tenant = inTenant(stage, person);
          await refuses(stage, person, "list_injects", { ...tenant, scenario_id: world.ids[scenario!] }, NOT_THERE);
          await refuses(stage, person, "list_injects", { ...tenant, simulation_id: world.ids[simulation!] }, NOT_THERE);
          await refuses(stage, person, "list_injects", { ...tenant, scenario_id: UNKNOWN }, NOT_THERE);
        },
      },
    ],
  },
  {
    tool: "list_findings",
    cases: [
      {
        about: "finds those of one scenario, simulation or endpoint as the platform does",
        as: SEERS,
        async prove(stage, person) {
          const { world } = stage;
          const here = stage.world.tenantOf(person) === FIRST;
          for (const [argument, key, path] of [
            ["scenario_id", here ? "full" : "other0", "scenarios"],
            ["simulation_id", here ? "running" : "otherRun", "exercises"],
            ["endpoint_id", here ? "machine0" : "otherMachine", "endpoints"],
          ] as const) {
            const id = world.ids[key]!;
            const direct = await seenBy(stage, person).below(`/findings/${path}/${id}/search`, "finding_id");
            const args = { ...inTenant(stage, person), [argument]: id };
            const { refusal, result } = await personOf(stage, person).ask("list_findings", args);
            if (direct === undefined) expect(refusal).toMatch(NO_RIGHT("ACCESS_|OBSERVER|there is no"));
            else if (refusal === "") expect(ids(result!.findings)).toEqual(direct.map((row) => row.finding_id).sort());
            else expect(refusal).toMatch(NO_RIGHT("ACCESS_FINDINGS"));
          }
        },
      },
    ],
  },
];
