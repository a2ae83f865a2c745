import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AtomicTestOrder, AtomicTestService } from "#proto/aev/v1/atomic_test_service_pb.js";
import { InjectRunService } from "#proto/aev/v1/inject_run_service_pb.js";
import { InjectService, InjectStatus } from "#proto/aev/v1/inject_service_pb.js";
import { ScenarioService } from "#proto/aev/v1/scenario_service_pb.js";
import { type AevHarness, startAev } from "../../../../support/platforms/aev.js";
import { refusal } from "../../../../support/platforms/refusal.js";

const tests = AtomicTestService.method;
const MAIL = "138ad8f8-32f8-4a22-8114-aaa12322bd09";
const MANUAL = "d02e9132-b9d0-4daa-b3b1-4b9871f8472c";
let stack: AevHarness;
let now = Date.parse("2026-11-22T09:00:30Z");

beforeAll(async () => {
  stack = await startAev({ now: () => now });
});
afterAll(() => stack.close());

const search = (more: object = {}) => stack.call(tests.listAtomicTests, more, "analyst");

test("atomic tests are found, and one is read with what it showed", async () => {
  const { atomicTests, totalSize } = await search();
  expect(totalSize).toBe(6);
  const failed = await search({ statuses: [InjectStatus.ERROR] });
  expect(failed.atomicTests.map(({ id }) => id)).toEqual(
    atomicTests.filter(({ status }) => status === InjectStatus.ERROR).map(({ id }) => id),
  );
  const [one] = (await search({ statuses: [InjectStatus.SUCCESS] })).atomicTests;
  const { atomicTest, results } = await stack.call(tests.getAtomicTest, { atomicTestId: one!.id }, "analyst");
  expect(atomicTest).toMatchObject({ id: one!.id, title: one!.title, status: InjectStatus.SUCCESS });
  expect(atomicTest!.scenario).toBeUndefined();
  expect(results.length).toBeGreaterThan(0);
  const why = await stack.call(
    InjectRunService.method.getInjectStatus,
    { injectId: failed.atomicTests[0]!.id },
    "analyst",
  );
  expect(why.traces.map(({ status }) => status)).toEqual(expect.arrayContaining(["error"]));
});

test("atomic tests are found by when they ran, newest first", async () => {
  const { atomicTests: all } = await search({ orderBy: AtomicTestOrder.RAN });
  const ranAt = all.map(({ ranAt: at }) => (at === undefined ? 0 : Number(at.seconds)));
  expect(ranAt).toEqual([...ranAt].sort((a, b) => b - a));
  const times = [...new Set(ranAt.filter((at) => at > 0))];
  expect(times.length).toBeGreaterThan(1);
  const [latest = 0, before = 0] = times;
  const since = await search({ ranAfter: { seconds: BigInt(before) } });
  expect(since.atomicTests.map(({ id }) => id).sort()).toEqual(
    all
      .filter((_, i) => (ranAt[i] as number) > before)
      .map(({ id }) => id)
      .sort(),
  );
  const until = await search({ ranBefore: { seconds: BigInt(latest) } });
  expect(until.totalSize).toBe(ranAt.filter((at) => at > 0 && at < latest).length);
});

test("an atomic test is created, changed and deleted; nothing else is taken for one", async () => {
  const { atomicTest: made, lacks } = await stack.call(
    tests.createAtomicTest,
    { title: " Mail ", injectorContractId: MAIL, content: { subject: "Hi", body: "x" }, labels: ["phishing"] },
    "analyst",
  );
  expect(made).toMatchObject({ title: "Mail", labels: ["phishing"], status: InjectStatus.DRAFT });
  expect(lacks).toHaveLength(1);
  const { atomicTest: changed } = await stack.call(
    tests.updateAtomicTest,
    { atomicTestId: made!.id, description: "Why", content: { subject: "Other" } },
    "analyst",
  );
  expect(changed).toEqual({
    ...made,
    description: "Why",
    content: { subject: "Other", body: "x" },
    updatedAt: changed!.updatedAt,
  });
  const manual = await refusal(
    stack.call(tests.createAtomicTest, { title: "No", injectorContractId: MANUAL }, "analyst"),
  );
  expect(manual.rawMessage).toMatch(/cannot run as an atomic test/);
  // The platform's own routes for atomic tests take any inject.
  const { scenarios } = await stack.call(ScenarioService.method.listScenarios, { pageSize: 1 }, "analyst");
  const parent = { case: "scenarioId", value: scenarios[0]!.id } as const;
  const { injects } = await stack.call(InjectService.method.listInjects, { parent }, "analyst");
  for (const tool of [tests.getAtomicTest, tests.updateAtomicTest, tests.deleteAtomicTest]) {
    const error = await refusal(
      stack.call(tool as never, { atomicTestId: injects[0]!.id, title: "No" } as never, "analyst"),
    );
    expect(error.code).toBe(Code.NotFound);
  }
  const step = await refusal(stack.call(InjectService.method.deleteInject, { injectId: made!.id }, "analyst"));
  expect(step.rawMessage).toMatch(/is an atomic test/);
  const { deleted } = await stack.call(tests.deleteAtomicTest, { atomicTestId: made!.id }, "analyst");
  expect(deleted).toMatchObject({ id: made!.id, name: "Mail" });
  expect((await refusal(stack.call(tests.getAtomicTest, { atomicTestId: made!.id }, "analyst"))).code).toBe(
    Code.NotFound,
  );
});

test("a launch says before what will run where, and is followed to its end; a relaunch has a new id", async () => {
  const [one] = (await search({ statuses: [InjectStatus.SUCCESS] })).atomicTests;
  for (const tool of [tests.launchAtomicTest, tests.relaunchAtomicTest]) {
    const said: string[] = [];
    let id = "";
    const found = (await search({ query: one!.title })).atomicTests[0]!;
    for await (const { event } of stack.stream(
      tool as typeof tests.launchAtomicTest,
      { atomicTestId: found.id },
      "analyst",
    )) {
      if (event.case === "progress") said.push(event.value.message);
      now += 60_000;
      if (event.case !== "result") continue;
      id = event.value.inject!.id;
      expect(event.value.targetCount).toBe(2);
      expect(event.value.remaining).toMatch(/^nothing remains; the run has ended/);
    }
    expect(said[0]).toMatch(/^about to run "Test of .+" \(.+\) on .+, .+$/);
    expect(id === found.id).toBe(tool === tests.launchAtomicTest);
  }
});

test("who only reads does not launch, and a launch that is refused runs nothing", async () => {
  const [one] = (await search({ statuses: [InjectStatus.DRAFT] })).atomicTests;
  const events = stack.stream(tests.launchAtomicTest, { atomicTestId: one!.id }, "reader");
  const error = await refusal(
    (async () => {
      for await (const _ of events);
    })(),
  );
  expect(error.rawMessage).toMatch(/MANAGE_ASSESSMENT.*PLANNER/);
  const { atomicTest } = await stack.call(tests.getAtomicTest, { atomicTestId: one!.id }, "analyst");
  expect(atomicTest!.status).toBe(InjectStatus.DRAFT);
});
