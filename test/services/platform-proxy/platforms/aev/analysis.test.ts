import { timestampDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AnalysisService, Change, CoverageKind, CoverageState } from "#proto/aev/v1/analysis_service_pb.js";
import { DEFAULT_TENANT as FIRST } from "../../../../../services/sandbox/aev/world.js";
import { type AevHarness, startAev } from "../../../../support/platforms/aev.js";
import { refusal } from "../../../../support/platforms/refusal.js";
import { Desk, type Json } from "./content.js";

const { inspectCoverage, inspectSimulationComparison } = AnalysisService.method;
const DAY = 86_400_000;
let stack: AevHarness;
let planner: Desk;
let ran: Json[] = [];

beforeAll(async () => {
  stack = await startAev();
  planner = new Desk(stack, "planner", FIRST);
  const runs = await planner.rows("/exercises/search");
  for (const { exercise_id: id } of runs) ran.push(...(await planner.rows(`/exercises/${id}/injects/search`)));
  ran.push(...(await planner.rows("/atomic-testings/search")));
  ran = ran.filter(({ inject_status: status }) => status.tracking_sent_date !== null);
});
afterAll(() => stack.close());

/** What ran in a period, from all rows. */
const ranIn = (after: number, before: number) =>
  ran.filter(({ inject_status: { status_name, tracking_sent_date } }) => {
    const at = Date.parse(tracking_sent_date);
    return at >= after && at < before && !["DRAFT", "QUEUING", "ERROR"].includes(status_name);
  });
async function whole(kind: CoverageKind, after: number, more: object = {}) {
  const ask = { kind, testedAfter: timestampFromMs(after), pageSize: 100, ...more };
  const first = await planner.call(inspectCoverage, ask);
  const coverage = [...first.coverage];
  for (let token = first.nextPageToken; token !== undefined; ) {
    const page = await planner.call(inspectCoverage, { ...ask, pageToken: token });
    coverage.push(...page.coverage);
    token = page.nextPageToken;
  }
  expect(coverage).toHaveLength(first.totalSize);
  return { ...first, coverage };
}

test.each([3, 400])(
  "the endpoints that injects of %d days reached, by themselves or in a group, are tested, the others are not",
  async (days) => {
    const after = Date.now() - days * DAY;
    const expected = new Map<string, { tests: number; last: number }>();
    for (const row of ranIn(after, Date.now())) {
      const ids = new Set<string>();
      for (const { target_id: id, target_type: type } of row.inject_targets) {
        if (type === "ASSETS") ids.add(id);
        if (type !== "ASSETS_GROUPS") continue;
        for (const { asset_id } of await planner.rows(`/asset_groups/${id}/assets/search`)) ids.add(asset_id);
      }
      for (const id of ids) {
        const { tests = 0, last = 0 } = expected.get(id) ?? {};
        expected.set(id, { tests: tests + 1, last: Math.max(last, Date.parse(row.inject_status.tracking_sent_date)) });
      }
    }
    const all = await planner.rows("/endpoints/search");
    const answer = await whole(CoverageKind.ENDPOINT, after);
    expect(answer.notLookedAt).toEqual([]);
    expect([answer.tested, answer.untested]).toEqual([expected.size, all.length - expected.size]);
    const told = answer.coverage.map(({ id, tests, lastTestedAt }) => [
      id,
      { tests, last: lastTestedAt === undefined ? 0 : timestampDate(lastTestedAt).getTime() },
    ]);
    expect(new Map(told as never)).toEqual(
      new Map(all.map(({ asset_id: id }) => [id, expected.get(id) ?? { tests: 0, last: 0 }])),
    );
    const lasts = answer.coverage.map(({ lastTestedAt: at }) => (at === undefined ? 0 : Number(at.seconds)));
    expect(lasts).toEqual([...lasts].sort((a, b) => a - b));
    const gaps = await whole(CoverageKind.ENDPOINT, after, { state: CoverageState.UNTESTED });
    expect(gaps.coverage.map(({ id }) => id).sort()).toEqual(
      all
        .map(({ asset_id: id }) => id)
        .filter((id) => !expected.has(id))
        .sort(),
    );
  },
);

test("techniques are tested by the actions that play them, with how they were met; groups say how many of theirs were", async () => {
  const after = Date.now() - 400 * DAY;
  const contracts = await planner.ask("POST", "/injector_contracts/search", { size: 1000, include_full_details: true });
  const plays = new Map<string, string[]>(
    contracts.content.map((one: Json) => [one.injector_contract_id, one.injector_contract_attack_patterns ?? []]),
  );
  const rows = ranIn(after, Date.now());
  const answer = await whole(CoverageKind.ATTACK_PATTERN, after, { state: CoverageState.TESTED });
  expect(answer.coverage.length).toBeGreaterThan(0);
  for (const one of answer.coverage) {
    const own = rows.filter((row) => plays.get(row.inject_injector_contract.injector_contract_id)?.includes(one.id));
    const met = (type: string) =>
      own.filter(({ inject_expectation_results: results }) =>
        results.some((result: Json) => result.type === type && result.avgResult === "SUCCESS"),
      ).length;
    expect([one.tests, one.prevented, one.detected]).toEqual([own.length, met("PREVENTION"), met("DETECTION")]);
  }
  const [phase] = await planner.rows("/kill_chain_phases/search");
  const inPhase = await whole(CoverageKind.ATTACK_PATTERN, after, { killChainPhaseId: phase.phase_id });
  const techniques = await planner.rows("/attack_patterns/search");
  const wanted = techniques.filter((row) => row.attack_pattern_kill_chain_phases?.includes(phase.phase_id));
  expect(inPhase.totalSize).toBe(wanted.length);
  const groups = await whole(CoverageKind.ASSET_GROUP, after);
  expect(groups.totalSize).toBe((await planner.rows("/asset_groups/search")).length);
  for (const { id, endpoints, endpointsTested } of groups.coverage) {
    expect(endpoints).toBe((await planner.rows(`/asset_groups/${id}/assets/search`)).length);
    expect(endpointsTested).toBeLessThanOrEqual(endpoints as number);
  }
});

test("the endpoints of a group, and the techniques of one endpoint or group, are told of alone", async () => {
  const after = Date.now() - 400 * DAY;
  const contracts = await planner.ask("POST", "/injector_contracts/search", { size: 1000, include_full_details: true });
  const plays = new Map<string, string[]>(
    contracts.content.map((one: Json) => [one.injector_contract_id, one.injector_contract_attack_patterns ?? []]),
  );
  const groups = await planner.rows("/asset_groups/search");
  const members = new Map<string, string[]>();
  for (const { asset_group_id: id } of groups) {
    const rows = await planner.rows(`/asset_groups/${id}/assets/search`);
    members.set(
      id,
      rows.map(({ asset_id }) => asset_id),
    );
  }
  const rows = ranIn(after, Date.now());
  const reached = (row: Json): string[] =>
    row.inject_targets.flatMap(({ target_id: id, target_type: type }: Json) =>
      type === "ASSETS" ? [id] : type === "ASSETS_GROUPS" ? (members.get(id) ?? []) : [],
    );
  const techniquesOn = (ids: readonly string[]) => {
    const own = rows.filter((row) => reached(row).some((id) => ids.includes(id)));
    return [
      ...new Set(own.flatMap((row) => plays.get(row.inject_injector_contract.injector_contract_id) ?? [])),
    ].sort();
  };
  const state = CoverageState.TESTED;
  const told = async (kind: CoverageKind, more: object) =>
    (await whole(kind, after, more)).coverage.map(({ id }) => id).sort();
  const [assetGroupId, ids] = [...members].find(([, own]) => own.length > 0)!;
  expect(await told(CoverageKind.ENDPOINT, { assetGroupId })).toEqual([...ids].sort());
  expect(await told(CoverageKind.ATTACK_PATTERN, { assetGroupId, state })).toEqual(techniquesOn(ids));
  const endpointId = rows.flatMap(reached)[0]!;
  expect(techniquesOn([endpointId]).length).toBeGreaterThan(0);
  expect(await told(CoverageKind.ATTACK_PATTERN, { endpointId, state })).toEqual(techniquesOn([endpointId]));

  const testedAfter = timestampFromMs(after);
  for (const args of [
    { kind: CoverageKind.ENDPOINT, endpointId },
    { kind: CoverageKind.ASSET_GROUP, assetGroupId },
    { kind: CoverageKind.ATTACK_PATTERN, endpointId, assetGroupId },
  ])
    expect((await refusal(planner.call(inspectCoverage, { ...args, testedAfter }))).code).toBe(Code.InvalidArgument);
  for (const args of [{ endpointId: FIRST }, { assetGroupId: FIRST }]) {
    const unknown = { ...args, kind: CoverageKind.ATTACK_PATTERN, testedAfter };
    expect((await refusal(planner.call(inspectCoverage, unknown))).code).toBe(Code.NotFound);
  }
});

test("a period, phase or pair that cannot be is refused", async () => {
  const kind = CoverageKind.ENDPOINT;
  const later = timestampFromMs(Date.now() + DAY);
  const before = timestampFromMs(Date.now() - DAY);
  for (const args of [
    { kind, testedAfter: later },
    { kind, testedAfter: before, testedBefore: timestampFromMs(Date.now() - 2 * DAY) },
    { kind, testedAfter: before, killChainPhaseId: FIRST },
  ]) {
    expect((await refusal(planner.call(inspectCoverage, args))).code).toBe(Code.InvalidArgument);
  }
  const phase = { kind: CoverageKind.ATTACK_PATTERN, testedAfter: before, killChainPhaseId: FIRST };
  expect((await refusal(planner.call(inspectCoverage, phase))).code).toBe(Code.NotFound);
  const [{ exercise_id: id }] = (await planner.rows("/exercises/search")) as [Json];
  const same = { simulationId: id, otherSimulationId: id.toUpperCase() };
  expect((await refusal(planner.call(inspectSimulationComparison, same))).code).toBe(Code.InvalidArgument);
  const unknown = { simulationId: id, otherSimulationId: FIRST };
  expect((await refusal(planner.call(inspectSimulationComparison, unknown))).code).toBe(Code.NotFound);
});

test("two runs of a scenario are compared inject by inject", async () => {
  const runs = (await planner.rows("/exercises/search")).filter((row) => row.exercise_status === "FINISHED");
  const byName = new Map<string, Json[]>();
  for (const run of runs) byName.set(run.exercise_name, [...(byName.get(run.exercise_name) ?? []), run]);
  const pairs = [...byName.values()].filter((same) => same.length > 1).slice(0, 5);
  expect(pairs.length).toBeGreaterThan(0);
  for (const [one, other] of pairs as [Json, Json][]) {
    const ask = { simulationId: one.exercise_id, otherSimulationId: other.exercise_id };
    const answer = await planner.call(inspectSimulationComparison, { ...ask, pageSize: 100 });
    const [was, is] = [
      await planner.rows(`/exercises/${one.exercise_id}/injects/search`),
      await planner.rows(`/exercises/${other.exercise_id}/injects/search`),
    ];
    const ids = answer.counts.reduce((sum, { count }) => sum + count, 0);
    expect(ids).toBeGreaterThanOrEqual(Math.max(was.length, is.length));
    expect(answer.injects.every(({ change }) => change !== Change.SAME)).toBe(true);
    for (const { beforeInject, afterInject, change, title } of answer.injects) {
      const rank = (rows: Json[], id?: string) => {
        const results = rows.find((row) => row.inject_id === id)?.inject_expectation_results ?? [];
        return new Map(
          results.map((r: Json) => [r.type, ["FAILED", "PARTIAL", "SUCCESS"].indexOf(r.avgResult)]),
        ) as Map<string, number>;
      };
      const [a, b] = [rank(was, beforeInject?.id), rank(is, afterInject?.id)];
      const steps = [...a].flatMap(([type, r]) =>
        r < 0 || (b.get(type) ?? -1) < 0 ? [] : [(b.get(type) as number) - r],
      );
      const titles = [was, is].map(
        (rows, i) => rows.find((row) => row.inject_id === [beforeInject?.id, afterInject?.id][i])?.inject_title,
      );
      expect(titles.filter((one) => one !== undefined && one !== title)).toEqual([]);
      if (change === Change.BETTER) expect([Math.max(...steps) > 0, Math.min(...steps) >= 0]).toEqual([true, true]);
      if (change === Change.WORSE) expect([Math.min(...steps) < 0, Math.max(...steps) <= 0]).toEqual([true, true]);
    }
    const back = await planner.call(inspectSimulationComparison, {
      simulationId: ask.otherSimulationId,
      otherSimulationId: ask.simulationId,
    });
    const count = (counts: typeof back.counts, change: Change) => counts.find((c) => c.change === change)?.count ?? 0;
    expect(count(back.counts, Change.BETTER)).toBe(count(answer.counts, Change.WORSE));
  }
});
