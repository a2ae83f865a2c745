import { expect } from "vitest";
import type { Truth } from "../../frame/table.js";
import type { Json } from "../platform.js";
import { holdsNothingHidden, inTenant, personOf, readWhole, refuses, type Stage, seenBy } from "../stage.js";
import { FIRST } from "../world.js";
import { SEERS } from "./lists.js";
import { ids, NOT_THERE, UNKNOWN } from "./objects.js";

/** A tool that reads one thing, and where the platform itself tells it. */
interface Reading {
  readonly tool: string;
  /** Our names for what is read, in the first tenant and in the second. */
  readonly of: readonly [first: readonly string[], second: readonly string[]];
  readonly args: (id: string, stage: Stage) => object;
  readonly route: (id: string, stage: Stage) => string;
  readonly proves: (told: Json, direct: Json, stage: Stage, person: string) => void | Promise<void>;
  /** What is refused to whom the platform tells nothing. */
  readonly words?: RegExp;
}

const MAIL = "138ad8f8-32f8-4a22-8114-aaa12322bd09";
const refs = (told: Json): string[] => ids(told);
const same = (told: unknown, direct: unknown) => expect(told ?? []).toEqual(direct ?? []);
const outcomes = (results: Json[]) =>
  Object.fromEntries(results.map((one) => [one.type.toLowerCase(), one.avgResult.toLowerCase()]));

/** An inject as a tool tells it, against what the platform says of it. */
export function isInject(told: Json, direct: Json): void {
  expect(told).toMatchObject({ id: direct.inject_id, title: direct.inject_title, type: direct.inject_type });
  expect(told.description).toBe(direct.inject_description || undefined);
  expect(told.content).toEqual(direct.inject_content ?? undefined);
  expect(told.action.id).toBe(direct.inject_injector_contract.injector_contract_id);
  expect(told.scenario?.id).toBe(direct.inject_scenario ?? undefined);
  expect(told.simulation?.id).toBe(direct.inject_exercise ?? undefined);
  for (const [key, of] of [
    ["endpoints", "inject_assets"],
    ["asset_groups", "inject_asset_groups"],
    ["teams", "inject_teams"],
  ] as const)
    expect(refs(told[key])).toEqual([...new Set(direct[of] as string[])].sort());
  expect((told.labels ?? []).length).toBe((direct.inject_tags ?? []).length);
  const isTest = direct.inject_scenario == null && direct.inject_exercise == null;
  if (!isTest)
    expect(told).toMatchObject({ enabled: direct.inject_enabled, delay_seconds: direct.inject_depends_duration });
}

const READINGS: readonly Reading[] = [
  {
    tool: "get_inject",
    of: [
      ["mail", "call0", "late", "atomic"],
      ["otherCall", "otherAtomic"],
    ],
    args: (id) => ({ inject_id: id }),
    route: (id) => `/injects/${id}`,
    proves: ({ inject }, direct) => isInject(inject, direct),
  },
  {
    tool: "get_inject_status",
    of: [["mail", "late", "atomic"], ["otherCall"]],
    args: (id) => ({ inject_id: id }),
    route: (id) => `/injects/status?injectId=${id}`,
    proves(told, direct) {
      expect(told.status).toBe(direct.status_name.toLowerCase());
      expect((told.traces ?? []).length).toBeGreaterThanOrEqual((direct.status_main_traces ?? []).length);
    },
  },
  {
    tool: "get_inject_execution_traces",
    of: [["mail"], []],
    args: (id, { world }) => ({ inject_id: id, target_id: world.ids.team, target_kind: "team" }),
    route: (id, { world }) => `/injects/execution-traces?injectId=${id}&targetId=${world.ids.team}&targetType=TEAMS`,
    proves: (told, direct) =>
      same(
        (told.traces ?? []).map((one: Json) => one.message),
        direct.map((one: Json) => one.execution_message),
      ),
  },
  {
    tool: "get_atomic_test",
    of: [["atomic"], ["otherAtomic"]],
    args: (id) => ({ atomic_test_id: id }),
    route: (id) => `/atomic-testings/${id}`,
    proves({ atomic_test: told, results }, direct) {
      expect(told).toMatchObject({ id: direct.inject_id, title: direct.inject_title });
      expect(told.content).toEqual(direct.inject_content ?? undefined);
      same(
        (results ?? []).map((one: Json) => one.kind),
        direct.inject_expectation_results.map((one: Json) => one.type.toLowerCase()),
      );
    },
  },
  {
    tool: "get_payload",
    of: [["payload0", "payload1"], ["otherPayload"]],
    args: (id) => ({ payload_id: id }),
    route: (id) => `/payloads/${id}`,
    words: /unknown tool|there is no|ACCESS_PAYLOADS/,
    async proves({ payload: told }, direct, stage, person) {
      expect(told).toMatchObject({
        id: direct.payload_id,
        name: direct.payload_name,
        type: "command",
        executor: direct.command_executor,
        command: direct.command_content,
        cleanup_command: direct.payload_cleanup_command,
      });
      expect(refs(told.attack_patterns)).toEqual([...direct.payload_attack_patterns].sort());
      expect((told.arguments ?? []).map((one: Json) => one.key)).toEqual(
        direct.payload_arguments.map((one: Json) => one.key),
      );
      const contract = await seenBy(stage, person).read(`/injector_contracts/${told.injector_contract.id}`);
      expect(contract.injector_contract_payload.payload_id).toBe(direct.payload_id);
    },
  },
  {
    tool: "list_expectations",
    of: [["running", "canceled", "run0"], ["otherRun"]],
    args: (id) => ({ simulation_id: id, page_size: 100 }),
    route: (id) => `/exercises/${id}/expectations`,
    proves(told, direct) {
      expect(told.total_size).toBe(direct.length);
      if (direct.length <= 100)
        expect(ids(told.expectations)).toEqual(direct.map((one: Json) => one.inject_expectation_id).sort());
    },
  },
  {
    tool: "get_simulation_results_by_attack_pattern",
    of: [["running", "run0"], ["otherRun"]],
    args: (id) => ({ simulation_id: id }),
    route: (id) => `/exercises/${id}/injects/results-by-attack-patterns`,
    proves(told, direct) {
      same(ids(told.attack_patterns), direct.map((one: Json) => one.inject_attack_pattern).sort());
      for (const one of told.attack_patterns ?? []) {
        const of = direct.find((row: Json) => row.inject_attack_pattern === one.id).inject_expectation_results;
        expect(ids(one.injects)).toEqual(of.map((row: Json) => row.inject_id).sort());
        for (const inject of one.injects)
          expect(inject.outcomes ?? {}).toEqual(
            outcomes(of.find((row: Json) => row.inject_id === inject.id).results ?? []),
          );
      }
    },
  },
  {
    tool: "get_scenario_statistics",
    of: [["full", "twin0"], ["other0"]],
    args: (id) => ({ scenario_id: id }),
    route: (id) => `/scenarios/${id}`,
    async proves(told, direct, stage, person) {
      const seen = seenBy(stage, person);
      // A search does not say of which scenario a run is.
      const all = await seen.of("simulation");
      const read = await Promise.all(all.map((one) => seen.read(`/exercises/${one.exercise_id}`)));
      const runs = all.filter((_, i) => read[i]?.exercise_scenario === direct.scenario_id);
      const isDecided = (one: Json): boolean => (one.distribution ?? []).some((part: Json) => part.value > 0);
      const ended = runs.filter((one) => ["FINISHED", "CANCELED"].includes(one.exercise_status));
      const scored = ended.filter((one) => one.exercise_global_score.some(isDecided));
      // Fewer than ten of each status are made here, so that all are shown.
      const wanted = scored.flatMap((one) =>
        one.exercise_global_score.filter(isDecided).map(({ type }: Json) => `${one.exercise_id} ${type.toLowerCase()}`),
      );
      const scores = (told.scores ?? []) as Json[];
      expect(scores.map((one) => `${one.simulation.id} ${one.kind}`).sort()).toEqual(wanted.sort());
      expect(told.left_out ?? 0).toBe(runs.length - scored.length);
      for (const { simulation, canceled } of scores) {
        const run = runs.find((one) => one.exercise_id === simulation.id);
        expect(canceled === true).toBe(run.exercise_status === "CANCELED");
      }
      // The platform's own figures are of finished runs alone.
      const own = (await seen.read(`/scenarios/${direct.scenario_id}/statistics`)) as Json;
      const by = own.simulations_results_latest.global_scores_by_expectation_type as Record<string, Json[]>;
      expect(scores.filter((one) => one.canceled !== true).length).toBe(Object.values(by).flat().length);
    },
  },
  {
    tool: "check_scenario_health",
    of: [["full", "twin0"], ["other0"]],
    args: (id) => ({ scenario_id: id }),
    route: (id) => `/scenarios/${id}/healthchecks`,
    proves: (told, direct) =>
      same(
        (told.problems ?? []).map((one: Json) => one.subject).sort(),
        direct.map((one: Json) => one.type.toLowerCase()).sort(),
      ),
  },
  {
    tool: "list_variables",
    of: [["full", "twin0"], ["other0"]],
    args: (id) => ({ scenario_id: id }),
    route: (id) => `/scenarios/${id}/variables`,
    proves: (told, direct) => same(ids(told.variables), direct.map((one: Json) => one.variable_id).sort()),
  },
];

const readingTruths: readonly Truth<Stage>[] = READINGS.map(({ tool, of, args, route, proves, words = NOT_THERE }) => ({
  tool,
  cases: [
    {
      about: "tells what the platform says, and refuses where it refuses",
      as: SEERS,
      async prove(stage, person) {
        const seen = seenBy(stage, person);
        for (const key of stage.world.tenantOf(person) === FIRST ? of[0] : of[1]) {
          const id = stage.world.ids[key]!;
          const asked = { ...inTenant(stage, person), ...args(id, stage) };
          const direct = await seen.read(route(id, stage));
          if (direct === undefined) {
            await refuses(stage, person, tool, asked, words);
            continue;
          }
          const { result, text, refusal } = await personOf(stage, person).ask(tool, asked);
          expect(refusal).toBe("");
          await proves(result, direct, stage, person);
          await holdsNothingHidden(stage, person, text);
        }
      },
    },
    {
      about: "tells who has no account so",
      as: ["stranger"],
      prove: (stage, person) =>
        refuses(stage, person, tool, args(stage.world.ids[of[0][0]!]!, stage), /no account|unknown tool/),
    },
    {
      about: "finds nothing of another tenant and nothing unknown",
      as: SEERS,
      async prove(stage, person) {
        const [elsewhere] = stage.world.tenantOf(person) === FIRST ? of[1] : of[0];
        for (const id of [elsewhere === undefined ? UNKNOWN : stage.world.ids[elsewhere]!, UNKNOWN])
          await refuses(stage, person, tool, { ...inTenant(stage, person), ...args(id, stage) }, words);
      },
    },
  ],
}));

/** A mail, or what there is, in the simulation that runs where somebody works. */
async function stepOfRun(stage: Stage, person: string): Promise<string> {
  const tenant = stage.world.tenantOf(person);
  const run = stage.world.ids[tenant === FIRST ? "running" : "otherRun"]!;
  const steps = (await seenBy(stage, "administrator", tenant).below(`/exercises/${run}/injects/search`, "inject_id"))!;
  return (steps.find((one) => one.inject_type === "openaev_email") ?? steps[0]).inject_id;
}

/** Tools that tell of injects, their runs and what they execute. */
export const runTruths: readonly Truth<Stage>[] = [
  ...readingTruths,
  {
    tool: "get_inject_execution_result",
    cases: [
      {
        about: "says of what never ran that it did not",
        as: SEERS,
        async prove(stage, person) {
          const id = stage.world.ids[stage.world.tenantOf(person) === FIRST ? "mail" : "otherCall"]!;
          const args = { ...inTenant(stage, person), inject_id: id, target_id: UNKNOWN, target_kind: "endpoint" };
          const direct = await seenBy(stage, person).read(`/injects/${id}`);
          const words = direct === undefined ? NOT_THERE : /has not run yet/;
          await refuses(stage, person, "get_inject_execution_result", args, words);
        },
      },
    ],
  },
  {
    tool: "get_inject_execution_traces",
    cases: [
      {
        about: "refuses a team that is no target, of which the platform tells nothing",
        as: SEERS,
        async prove(stage, person) {
          const { ids } = stage.world;
          const isFirst = stage.world.tenantOf(person) === FIRST;
          const words = /belongs to scenario|no such target|there is no|unknown tool|ACCESS_ASSESSMENT/;
          for (const id of isFirst ? [ids.call0!, ids.atomic!] : [ids.otherCall!, ids.otherAtomic!]) {
            const args = { ...inTenant(stage, person), inject_id: id, target_id: ids.team!, target_kind: "team" };
            await refuses(stage, person, "get_inject_execution_traces", args, words);
          }
        },
      },
    ],
  },
  {
    tool: "list_inject_targets",
    cases: [
      {
        about: "gives every target once, as the platform does",
        as: SEERS,
        async prove(stage, person) {
          const inFirst = stage.world.tenantOf(person) === FIRST;
          const step = stage.world.ids[inFirst ? "mail" : "otherCall"]!;
          const test = stage.world.ids[inFirst ? "atomic" : "otherAtomic"]!;
          for (const [id, kind, word] of [
            [step, "endpoint", "ASSETS"],
            [step, "team", ""],
            [step, "player", ""],
            [test, "team", "TEAMS"],
            [test, "endpoint", "ASSETS"],
            [await stepOfRun(stage, person), "team", "TEAMS"],
            [await stepOfRun(stage, person), "player", "PLAYERS"],
          ] as const) {
            const args = { ...inTenant(stage, person), inject_id: id, target_kind: kind };
            if (word === "") {
              // The platform fails: a scenario's steps have nobody before there is a simulation.
              const words = /belongs to scenario|there is no|unknown tool|ACCESS_ASSESSMENT/;
              await refuses(stage, person, "list_inject_targets", args, words);
              continue;
            }
            const direct = await seenBy(stage, person).below(`/injects/${id}/targets/${word}/search`, "target_id");
            if (direct === undefined) {
              await refuses(stage, person, "list_inject_targets", args, NOT_THERE);
              continue;
            }
            const { rows } = await readWhole(stage, person, { tool: "list_inject_targets", rows: "targets", args });
            expect(ids(rows)).toEqual(direct.map((one) => one.target_id).sort());
          }
        },
      },
    ],
  },
  {
    tool: "list_injector_contracts",
    cases: [
      {
        about: "gives every action once, in the order of names",
        as: SEERS,
        async prove(stage, person) {
          const direct = await seenBy(stage, person).of("contract");
          const { rows } = await readWhole(stage, person, {
            tool: "list_injector_contracts",
            rows: "injector_contracts",
            args: inTenant(stage, person),
            pageSize: 4,
          });
          expect(ids(rows)).toEqual(direct.map((one) => one.injector_contract_id).sort());
          const names = rows.map((row) => String(row.name).toLowerCase());
          expect(names).toEqual([...names].sort());
        },
      },
      {
        about: "finds those of one technique",
        as: ["administrator", "analyst", "reader"],
        async prove(stage, person) {
          const technique = stage.world.ids.technique0!;
          const args = { ...inTenant(stage, person), attack_pattern_id: technique };
          const direct = (await seenBy(stage, person).of("contract")).filter((one) =>
            one.injector_contract_attack_patterns.includes(technique),
          );
          const { rows } = await readWhole(stage, person, {
            tool: "list_injector_contracts",
            rows: "injector_contracts",
            args,
          });
          expect(ids(rows)).toEqual(direct.map((one) => one.injector_contract_id).sort());
        },
      },
    ],
  },
  {
    tool: "get_injector_contract",
    cases: [
      {
        about: "tells the fields that the platform says, and refuses where it refuses",
        as: SEERS,
        async prove(stage, person) {
          const seen = seenBy(stage, person);
          const all: Json[] = await seen.of("contract");
          for (const id of [MAIL, ...all.map((one) => one.injector_contract_id).slice(0, 8), UNKNOWN]) {
            const args = { ...inTenant(stage, person), injector_contract_id: id };
            const direct = await seen.read(`/injector_contracts/${id}`);
            if (direct === undefined) {
              await refuses(stage, person, "get_injector_contract", args, /there is no|ACCESS_PAYLOADS/);
              continue;
            }
            const told = await personOf(stage, person).get<Json>("get_injector_contract", args);
            expect((told.fields ?? []).map((one: Json) => one.key)).toEqual(
              direct.convertedContent.fields.map((one: Json) => one.key),
            );
            expect(told.payload?.id).toBe(direct.injector_contract_payload?.payload_id);
          }
        },
      },
    ],
  },
  ...(
    [
      ["list_atomic_tests", "atomic_tests", "atomic", "inject_id"],
      ["list_payloads", "payloads", "payload", "payload_id"],
    ] as const
  ).map(
    ([tool, rows, kind, id]): Truth<Stage> => ({
      tool,
      cases: [
        {
          about: "gives every row once, as the platform does",
          as: SEERS,
          async prove(stage, person) {
            const direct = await seenBy(stage, person).mayList(kind);
            const args = inTenant(stage, person);
            const tools = await personOf(stage, person).tools();
            if (direct === undefined || !tools.includes(tool)) {
              expect(direct ?? []).toEqual([]);
              return;
            }
            const read = await readWhole(stage, person, { tool, rows, args, pageSize: 3 });
            expect(ids(read.rows)).toEqual(direct.map((one) => one[id]).sort());
          },
        },
        {
          about: "finds by text in any case",
          as: ["administrator", "analyst"],
          async prove(stage, person) {
            const args = { ...inTenant(stage, person), query: stage.world.run.toUpperCase() };
            const name = kind === "atomic" ? "inject_title" : "payload_name";
            const direct = (await seenBy(stage, person).of(kind)).filter((one) => one[name].includes(stage.world.run));
            const read = await readWhole(stage, person, { tool, rows, args });
            expect(ids(read.rows)).toEqual(direct.map((one) => one[id]).sort());
          },
        },
      ],
    }),
  ),
];
