import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { InjectService, InjectStatus } from "#proto/aev/v1/inject_service_pb.js";
import { ExpectationKind, Outcome } from "#proto/aev/v1/result_pb.js";
import { ScenarioService } from "#proto/aev/v1/scenario_service_pb.js";
import { SimulationStatus } from "#proto/aev/v1/simulation_pb.js";
import { SimulationOrder, SimulationService } from "#proto/aev/v1/simulation_service_pb.js";
import { type AevHarness, startAev } from "../../../../support/platforms/aev.js";
import { refusal } from "../../../../support/platforms/refusal.js";

const { listSimulations, getSimulation, getSimulationResults, setSimulationStatus } = SimulationService.method;
const { listInjects } = InjectService.method;
const UNKNOWN = "00000000-0000-4000-8000-000000000000";
let stack: AevHarness;

beforeAll(async () => {
  stack = await startAev();
});
afterAll(() => stack.close());

const firstId = async (): Promise<string> => {
  const { simulations } = await stack.call(listSimulations, { statuses: [SimulationStatus.FINISHED] }, "analyst");
  return simulations[0]?.id ?? "";
};

/** A simulation of its own, made on the platform itself, that has not started. */
const scheduled = async (): Promise<string> => {
  const { body } = await stack.ask("planner", "POST", "/api/exercises", { exercise_name: "Tabletop" });
  return (body as { exercise_id: string }).exercise_id;
};

test("simulations are listed with their outcomes, and one is read with first targets and labels by name", async () => {
  const { simulations, totalSize } = await stack.call(listSimulations, { pageSize: 100 }, "analyst");
  expect(totalSize).toBe(120);
  const row = simulations.find(
    ({ outcomes }) => outcomes !== undefined && outcomes.prevention !== Outcome.UNSPECIFIED,
  )!;
  expect(row).toMatchObject({ targets: [], results: [], labels: [] });
  const { simulation } = await stack.call(getSimulation, { simulationId: row.id }, "analyst");
  const prevention = simulation!.results.find(({ kind }) => kind === ExpectationKind.PREVENTION);
  expect(prevention).toMatchObject({ outcome: row.outcomes!.prevention });
  expect(simulation!.targets.length).toBeGreaterThan(0);
  expect(simulation!.targets.length).toBeLessThanOrEqual(10);
  expect(simulation!.labels.length).toBeGreaterThan(0);
  expect(simulation!.labels.some((tag) => /^[0-9a-f]{8}-/.test(tag))).toBe(false);
});

test("simulations are found by scenario, state and start", async () => {
  const { scenarios } = await stack.call(ScenarioService.method.listScenarios, { pageSize: 1 }, "analyst");
  const scenarioId = scenarios[0]?.id ?? "";
  const found = await stack.call(listSimulations, { scenarioId }, "analyst");
  expect(found.totalSize).toBe(2);
  const none = await stack.call(listSimulations, { statuses: [SimulationStatus.PAUSED] }, "analyst");
  expect(none).toMatchObject({ totalSize: 0, simulations: [] });
  const future = { seconds: BigInt(Math.floor(Date.now() / 1_000) + 86_400) };
  expect((await stack.call(listSimulations, { startedAfter: future }, "analyst")).totalSize).toBe(0);
  const { simulations } = await stack.call(listSimulations, { orderBy: SimulationOrder.STARTED }, "analyst");
  const starts = simulations.map(({ startedAt }) => Number(startedAt?.seconds ?? 0n));
  expect(starts).toEqual([...starts].sort((a, b) => b - a));
});

test("simulations of an unknown scenario are refused instead of none", async () => {
  expect(await refusal(stack.call(listSimulations, { scenarioId: UNKNOWN }, "analyst"))).toMatchObject({
    code: Code.NotFound,
  });
});

test("one simulation tells its scenario, times and state", async () => {
  const { simulation } = await stack.call(getSimulation, { simulationId: await firstId() }, "analyst");
  expect(simulation).toMatchObject({ status: SimulationStatus.FINISHED, players: 3 });
  expect(simulation?.scenario?.id).toMatch(/^[0-9a-f-]{36}$/);
  expect(simulation?.endedAt).toBeDefined();
});

test("results count how expectations turned out", async () => {
  const { results, status } = await stack.call(getSimulationResults, { simulationId: await firstId() }, "analyst");
  expect(status).toBe(SimulationStatus.FINISHED);
  const prevention = results.find(({ kind }) => kind === ExpectationKind.PREVENTION);
  expect(prevention?.counts.map(({ outcome }) => outcome)).toEqual([
    Outcome.SUCCESS,
    Outcome.PENDING,
    Outcome.PARTIAL,
    Outcome.FAILED,
  ]);
  expect(prevention?.counts.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThan(0);
});

test("results and injects of an unknown simulation are refused instead of empty", async () => {
  const open = await stack.ask("planner", "GET", `/api/exercises/${UNKNOWN}/results`);
  expect(open).toEqual({ status: 200, body: [] });
  for (const attempt of [
    () => stack.call(getSimulationResults, { simulationId: UNKNOWN }, "analyst"),
    () => stack.call(listInjects, { parent: { case: "simulationId", value: UNKNOWN } }, "analyst"),
    () => stack.call(listInjects, { parent: { case: "scenarioId", value: UNKNOWN } }, "analyst"),
  ]) {
    expect(await refusal(attempt())).toMatchObject({ code: Code.NotFound });
  }
});

test("a simulation of another tenant looks like none", async () => {
  const simulationId = await firstId();
  for (const attempt of [
    () => stack.call(getSimulation, { simulationId }, "outsider"),
    () => stack.call(getSimulationResults, { simulationId }, "outsider"),
    () => stack.call(setSimulationStatus, { simulationId, status: SimulationStatus.CANCELED }, "outsider"),
    () => stack.call(listInjects, { parent: { case: "simulationId", value: simulationId } }, "outsider"),
  ]) {
    expect(await refusal(attempt())).toMatchObject({ code: Code.NotFound });
  }
});

test("a grant on a scenario does not open its simulations", async () => {
  const { scenarios } = await stack.call(ScenarioService.method.listScenarios, {}, "observer");
  const { scenario } = await stack.call(
    ScenarioService.method.getScenario,
    {
      scenarioId: scenarios[0]?.id ?? "",
    },
    "observer",
  );
  const simulationId = scenario?.simulations[0]?.id ?? "";
  expect(await refusal(stack.call(getSimulation, { simulationId }, "observer"))).toMatchObject({
    code: Code.PermissionDenied,
  });
});

test("a simulation is started, held, resumed and ended; setting the same state twice changes nothing", async () => {
  const simulationId = await scheduled();
  const set = (status: SimulationStatus) => stack.call(setSimulationStatus, { simulationId, status }, "analyst");
  expect((await set(SimulationStatus.RUNNING)).simulation?.status).toBe(SimulationStatus.RUNNING);
  expect(await set(SimulationStatus.RUNNING)).toMatchObject({ changed: false });
  expect(await set(SimulationStatus.PAUSED)).toMatchObject({ changed: true });
  expect(await set(SimulationStatus.RUNNING)).toMatchObject({ changed: true });
  expect((await set(SimulationStatus.CANCELED)).simulation?.status).toBe(SimulationStatus.CANCELED);
});

test("a state that cannot follow is refused with those that can, and nothing is sent", async () => {
  const simulationId = await scheduled();
  const attempts = stack.sandbox.audit.filter(({ method }) => method === "PUT").length;
  const held = await refusal(
    stack.call(setSimulationStatus, { simulationId, status: SimulationStatus.PAUSED }, "analyst"),
  );
  expect(held.code).toBe(Code.FailedPrecondition);
  expect(held.rawMessage).toContain("it can become running");
  const over = await refusal(
    stack.call(setSimulationStatus, { simulationId: await firstId(), status: SimulationStatus.RUNNING }, "analyst"),
  );
  expect(over.rawMessage).toContain("it has ended");
  expect(stack.sandbox.audit.filter(({ method }) => method === "PUT")).toHaveLength(attempts);
});

test("a simulation is not reset through its state", async () => {
  expect(
    await refusal(
      stack.call(
        setSimulationStatus,
        {
          simulationId: await firstId(),
          status: SimulationStatus.SCHEDULED,
        },
        "analyst",
      ),
    ),
  ).toMatchObject({ code: Code.InvalidArgument });
});

test("injects of a scenario come in the order of their time, without the contract's content", async () => {
  const { scenarios } = await stack.call(ScenarioService.method.listScenarios, { pageSize: 1 }, "analyst");
  const parent = { case: "scenarioId" as const, value: scenarios[0]?.id ?? "" };
  const { injects, totalSize } = await stack.call(listInjects, { parent }, "analyst");
  expect(totalSize).toBeGreaterThan(5);
  const delays = injects.map(({ delaySeconds }) => delaySeconds ?? -1);
  expect(delays).toEqual([...delays].sort((a, b) => a - b));
  expect(injects[0]).toMatchObject({ type: "openaev_email", action: "Send individual mails", ready: true });
  expect(JSON.stringify(injects).length / injects.length).toBeLessThan(1_000);
});

test("injects of a simulation tell how far they have come and how they turned out", async () => {
  const parent = { case: "simulationId" as const, value: await firstId() };
  const short = await stack.call(listInjects, { parent }, "analyst");
  expect(short.injects.some(({ outcomes }) => outcomes?.prevention)).toBeTruthy();
  expect(short.injects.flatMap(({ targets, results }) => [...targets, ...results])).toEqual([]);
  const many = stack.call(listInjects, { parent, withTargets: true, pageSize: 26 }, "analyst");
  expect(await refusal(many)).toMatchObject({ code: Code.InvalidArgument });
  const { injects } = await stack.call(listInjects, { parent, withTargets: true }, "analyst");
  expect(injects.some(({ status }) => status === InjectStatus.SUCCESS)).toBe(true);
  expect(injects.some(({ results }) => results.length > 0)).toBe(true);
  expect(injects.every(({ targets, targetCount }) => targets.length === Math.min(10, targetCount))).toBe(true);
});

test("a search of injects wants a scenario or a simulation", async () => {
  expect(await refusal(stack.call(listInjects, {}, "analyst"))).toMatchObject({ code: Code.InvalidArgument });
});

test("the times of a changed simulation are those that a read tells", async () => {
  const { body } = await stack.ask("planner", "POST", "/api/exercises", { exercise_name: "To be ended" });
  const simulationId = (body as { exercise_id: string }).exercise_id;
  await stack.call(setSimulationStatus, { simulationId, status: SimulationStatus.RUNNING }, "analyst");
  const { simulation } = await stack.call(
    setSimulationStatus,
    { simulationId, status: SimulationStatus.CANCELED },
    "analyst",
  );
  const read = await stack.call(getSimulation, { simulationId }, "analyst");
  expect(simulation?.endedAt).toEqual(read.simulation?.endedAt);
});
