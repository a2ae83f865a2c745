import { expect } from "vitest";
import type { Truth } from "../../frame/table.js";
import type { Json } from "../platform.js";
import type { KindName } from "../seen.js";
import { holdsNothingHidden, inTenant, personOf, readWhole, refuses, type Stage, seenBy } from "../stage.js";
import { FIRST } from "../world.js";
import { SEERS } from "./lists.js";
import { ask } from "./lives.js";
import { ids, NOT_THERE, UNKNOWN } from "./objects.js";

// Tools that read several runs at once.

const LONG_AGO = "2020-01-01T00:00:00Z";

/** What can be tested, with the word of the tool. */
const KINDS: readonly (readonly [kind: string, list: KindName, id: string])[] = [
  ["endpoint", "endpoint", "asset_id"],
  ["asset_group", "assetGroup", "asset_group_id"],
  ["attack_pattern", "technique", "attack_pattern_id"],
];

/** Whether an inject has begun. */
const ran = ({ inject_status: status }: Json): boolean =>
  status?.tracking_sent_date != null && !["DRAFT", "QUEUING"].includes(status.status_name);

/** The injects of a simulation that a person sees, with their outcomes; undefined if the platform refuses. */
const injectsOf = (stage: Stage, person: string, id: string): Promise<Json[] | undefined> =>
  seenBy(stage, person).below(`/exercises/${id}/injects/search`, "inject_id");

/** What is compared of an inject: a run copies the injects of its scenario under new ids. */
const alike = ({ inject_title, inject_injector_contract: contract }: Json): string =>
  `${inject_title} ${contract?.injector_contract_id}`;

/** Members of the first list for which the second has no counterpart, one for one. */
function without(all: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return all.filter((one) => {
    const at = left.indexOf(one);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

/** Two runs of one scenario and one of another, in the tenant of a person. */
async function runsFor(stage: Stage, person: string): Promise<readonly [before: string, after: string][]> {
  const { world } = stage;
  const tenant = world.tenantOf(person);
  const inFirst = tenant === FIRST;
  const scenario = world.ids[inFirst ? "full" : "other0"];
  const { exercise_id: again } = await ask(stage, tenant, "POST", `/scenarios/${scenario}/exercise/running`, {});
  world.removeLater(tenant, `/exercises/${again}`);
  const [first, other] = inFirst ? ["running", "canceled"] : ["otherRun", "otherCanceled"];
  return [
    [world.ids[first!]!, again],
    [world.ids[first!]!, world.ids[other!]!],
    [world.ids[other!]!, world.ids[first!]!],
  ];
}

/** Tools that analyse several runs. */
export const analysisTruths: readonly Truth<Stage>[] = [
  {
    tool: "inspect_coverage",
    cases: [
      {
        about: "lists everything that can be tested, and counts the runs that the platform shows",
        as: SEERS,
        async prove(stage, person) {
          const seen = seenBy(stage, person);
          const simulations = await seen.of("simulation");
          const steps = await Promise.all(simulations.map((one) => injectsOf(stage, person, one.exercise_id)));
          const begun = steps.filter((rows) => rows?.some(ran) === true);
          const tests = (await seen.of("atomic")).filter(ran);
          for (const [kind, list, id] of KINDS) {
            const args = { ...inTenant(stage, person), kind, tested_after: LONG_AGO };
            const { refusal } = await personOf(stage, person).ask("inspect_coverage", args);
            if (refusal !== "") {
              expect(refusal).toMatch(/unknown tool|ACCESS_/);
              continue;
            }
            const { rows } = await readWhole(stage, person, {
              tool: "inspect_coverage",
              rows: "coverage",
              args,
              pageSize: 100,
            });
            expect(ids(rows)).toEqual((await seen.of(list)).map((one) => one[id]).sort());
            const told = await personOf(stage, person).get<Json>("inspect_coverage", args);
            expect(told.simulations ?? 0).toBe(begun.length);
            expect(told.atomic_tests ?? 0).toBe(tests.length);
            expect((told.tested ?? 0) + (told.untested ?? 0)).toBe(rows.length);
            expect(rows.filter((row) => Number(row.tests ?? 0) > 0).length).toBe(told.tested ?? 0);
          }
        },
      },
      {
        about: "counts an atomic test once it ran, on its technique and its endpoint",
        as: ["administrator", "analyst"],
        async prove(stage, person) {
          const { ids: made, run } = stage.world;
          const after = new Date(Date.now() - 1_000).toISOString();
          const contracts = await seenBy(stage, "administrator").of("contract");
          const contract =
            contracts.find(
              (one) => one.injector_contract_payload?.payload_id === made.payload0 || one.payload_id === made.payload0,
            ) ?? contracts.find((one) => one.injector_contract_attack_patterns?.includes(made.technique0));
          const { inject_id: test } = await ask(stage, FIRST, "POST", "/atomic-testings", {
            inject_title: `Covers ${person} ${run}`,
            inject_injector_contract: contract.injector_contract_id,
            inject_content: { who: "root", expectations: [] },
            inject_assets: [made.machine0],
            inject_asset_groups: [],
            inject_teams: [],
            inject_documents: [],
            inject_tags: [],
            inject_all_teams: false,
          });
          stage.world.removeLater(FIRST, `/atomic-testings/${test}`);
          await ask(stage, FIRST, "POST", `/atomic-testings/${test}/launch`);
          const args = { ...inTenant(stage, person), tested_after: after, page_size: 100 };
          // It runs on the platform's own time; without an agent it ends in an error.
          await expect
            .poll(
              async () => (await seenBy(stage, person).read(`/atomic-testings/${test}`))?.inject_status?.status_name,
              {
                timeout: 90_000,
              },
            )
            .toMatch(/ERROR|SUCCESS|PARTIAL|MAYBE/);
          const direct = await seenBy(stage, person).read(`/atomic-testings/${test}`);
          const isError = direct.inject_status.status_name === "ERROR";
          for (const [kind, id] of [
            ["attack_pattern", made.technique0],
            ["endpoint", made.machine0],
          ]) {
            const { coverage } = await personOf(stage, person).get<Json>("inspect_coverage", {
              ...args,
              kind,
              query: run,
            });
            const row = coverage.find((one: Json) => one.id === id);
            expect([row.tests ?? 0, row.errors ?? 0]).toEqual(isError ? [0, 1] : [1, 0]);
          }
        },
      },
    ],
  },
  {
    tool: "inspect_simulation_comparison",
    cases: [
      {
        about: "finds the injects that one of two runs lacks, and refuses where the platform refuses",
        as: SEERS,
        async prove(stage, person) {
          for (const [before, after] of await runsFor(stage, person)) {
            const args = { ...inTenant(stage, person), simulation_id: before, other_simulation_id: after };
            const [was, is] = await Promise.all([before, after].map((id) => injectsOf(stage, person, id)));
            const isShown = await Promise.all(
              [before, after].map((id) => seenBy(stage, person).read(`/exercises/${id}`)),
            );
            if (was === undefined || is === undefined || isShown.includes(undefined)) {
              await refuses(stage, person, "inspect_simulation_comparison", args, NOT_THERE);
              continue;
            }
            const told = await personOf(stage, person).get<Json>("inspect_simulation_comparison", {
              ...args,
              page_size: 100,
              changes: ["only_before", "only_after"],
            });
            const of = (change: string): string[] =>
              ((told.injects ?? []) as Json[])
                .filter((one) => one.change === change)
                .map((one) => one.title)
                .sort();
            const [had, has] = [was.map(alike), is.map(alike)];
            const titles = (keys: readonly string[]): string[] => keys.map((key) => key.replace(/ \S+$/, "")).sort();
            expect(of("only_before")).toEqual(titles(without(had, has)));
            expect(of("only_after")).toEqual(titles(without(has, had)));
            const all = ((told.counts ?? []) as Json[]).reduce((sum, one) => sum + one.count, 0);
            expect(all).toBe(had.length + without(has, had).length);
            for (const [member, direct] of [
              ["before", isShown[0]],
              ["after", isShown[1]],
            ] as const) {
              expect(told[member].simulation).toEqual({ id: direct.exercise_id, name: direct.exercise_name });
              expect(told[member].status).toBe(direct.exercise_status.toLowerCase());
            }
            await holdsNothingHidden(stage, person, JSON.stringify(told));
          }
        },
      },
      {
        about: "finds nothing of another tenant and nothing unknown",
        as: SEERS,
        async prove(stage, person) {
          const inFirst = stage.world.tenantOf(person) === FIRST;
          const [own, elsewhere] = inFirst ? ["running", "otherRun"] : ["otherRun", "running"];
          for (const id of [stage.world.ids[elsewhere!]!, UNKNOWN]) {
            const args = { simulation_id: stage.world.ids[own!], other_simulation_id: id };
            const asked = { ...inTenant(stage, person), ...args };
            await refuses(stage, person, "inspect_simulation_comparison", asked, NOT_THERE);
          }
        },
      },
    ],
  },
];
