import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { InjectService, InjectStatus } from "#proto/aev/v1/inject_service_pb.js";
import { ExpectationKind, Outcome } from "#proto/aev/v1/result_pb.js";
import { ScenarioService } from "#proto/aev/v1/scenario_service_pb.js";
import { SimulationStatus } from "#proto/aev/v1/simulation_pb.js";
import { SimulationOrder, SimulationService } from "#proto/aev/v1/simulation_service_pb.js";
import { type Stack, startStack } from "./harness.js";
import { refused } from "./refused.js";

const { searchSimulations, getSimulation, getSimulationResults, setSimulationStatus } = SimulationService.method;
const { searchInjects } = InjectService.method;
const UNKNOWN = "00000000-0000-4000-8000-000000000000";
let stack: Stack;

beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.close());

const firstId = async (): Promise<string> => {
  const { simulations } = await stack.call("analyst", searchSimulations, { statuses: [SimulationStatus.FINISHED] });
  return simulations[0]?.id ?? "";
};

/** A simulation of its own, made on the platform itself, that has not started. */
const scheduled = async (): Promise<string> => {
  const { body } = await stack.ask("planner", "POST", "/api/exercises", { exercise_name: "Tabletop" });
  return (body as { exercise_id: string }).exercise_id;
};

test("simulations come with their scores, first targets and labels by name", async () => {
  const { simulations, totalSize } = await stack.call("analyst", searchSimulations, { pageSize: 100 });
  expect(totalSize).toBe(120);
  expect(simulations.some(({ results }) => results.some(({ kind }) => kind === ExpectationKind.PREVENTION))).toBe(true);
  expect(simulations.every(({ targets }) => targets.length <= 10)).toBe(true);
  expect(simulations.flatMap(({ labels }) => labels).some((tag) => /^[0-9a-f]{8}-/.test(tag))).toBe(false);
});

test("simulations are found by scenario, state and start", async () => {
  const { scenarios } = await stack.call("analyst", ScenarioService.method.searchScenarios, { pageSize: 1 });
  const scenarioId = scenarios[0]?.id ?? "";
  const found = await stack.call("analyst", searchSimulations, { scenarioId });
  expect(found.totalSize).toBe(2);
  const none = await stack.call("analyst", searchSimulations, { statuses: [SimulationStatus.PAUSED] });
  expect(none).toMatchObject({ totalSize: 0, simulations: [] });
  const future = { seconds: BigInt(Math.floor(Date.now() / 1_000) + 86_400) };
  expect((await stack.call("analyst", searchSimulations, { startedAfter: future })).totalSize).toBe(0);
  const { simulations } = await stack.call("analyst", searchSimulations, { orderBy: SimulationOrder.STARTED });
  const starts = simulations.map(({ startedAt }) => Number(startedAt?.seconds ?? 0n));
  expect(starts).toEqual([...starts].sort((a, b) => b - a));
});

test("simulations of an unknown scenario are refused instead of none", async () => {
  expect(await refused(stack.call("analyst", searchSimulations, { scenarioId: UNKNOWN }))).toMatchObject({
    code: Code.NotFound,
  });
});

test("one simulation tells its scenario, times and state", async () => {
  const { simulation } = await stack.call("analyst", getSimulation, { simulationId: await firstId() });
  expect(simulation).toMatchObject({ status: SimulationStatus.FINISHED, players: 3 });
  expect(simulation?.scenario?.id).toMatch(/^[0-9a-f-]{36}$/);
  expect(simulation?.endedAt).toBeDefined();
});

test("results count how expectations turned out", async () => {
  const { results, status } = await stack.call("analyst", getSimulationResults, { simulationId: await firstId() });
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
    () => stack.call("analyst", getSimulationResults, { simulationId: UNKNOWN }),
    () => stack.call("analyst", searchInjects, { parent: { case: "simulationId", value: UNKNOWN } }),
    () => stack.call("analyst", searchInjects, { parent: { case: "scenarioId", value: UNKNOWN } }),
  ]) {
    expect(await refused(attempt())).toMatchObject({ code: Code.NotFound });
  }
});

test("a simulation of another tenant looks like none", async () => {
  const simulationId = await firstId();
  for (const attempt of [
    () => stack.call("outsider", getSimulation, { simulationId }),
    () => stack.call("outsider", getSimulationResults, { simulationId }),
    () => stack.call("outsider", setSimulationStatus, { simulationId, status: SimulationStatus.CANCELED }),
    () => stack.call("outsider", searchInjects, { parent: { case: "simulationId", value: simulationId } }),
  ]) {
    expect(await refused(attempt())).toMatchObject({ code: Code.NotFound });
  }
});

test("a grant on a scenario does not open its simulations", async () => {
  const { scenarios } = await stack.call("observer", ScenarioService.method.searchScenarios, {});
  const { scenario } = await stack.call("observer", ScenarioService.method.getScenario, {
    scenarioId: scenarios[0]?.id ?? "",
  });
  const simulationId = scenario?.simulations[0]?.id ?? "";
  expect(await refused(stack.call("observer", getSimulation, { simulationId }))).toMatchObject({
    code: Code.PermissionDenied,
  });
});

test("a simulation is started, held, resumed and ended; setting the same state twice changes nothing", async () => {
  const simulationId = await scheduled();
  const set = (status: SimulationStatus) => stack.call("analyst", setSimulationStatus, { simulationId, status });
  expect((await set(SimulationStatus.RUNNING)).simulation?.status).toBe(SimulationStatus.RUNNING);
  expect(await set(SimulationStatus.RUNNING)).toMatchObject({ changed: false });
  expect(await set(SimulationStatus.PAUSED)).toMatchObject({ changed: true });
  expect(await set(SimulationStatus.RUNNING)).toMatchObject({ changed: true });
  expect((await set(SimulationStatus.CANCELED)).simulation?.status).toBe(SimulationStatus.CANCELED);
});

test("a state that cannot follow is refused with those that can, and nothing is sent", async () => {
  const simulationId = await scheduled();
  const attempts = stack.sandbox.audit.filter(({ method }) => method === "PUT").length;
  const held = await refused(
    stack.call("analyst", setSimulationStatus, { simulationId, status: SimulationStatus.PAUSED }),
  );
  expect(held.code).toBe(Code.FailedPrecondition);
  expect(held.rawMessage).toContain("it can become running");
  const over = await refused(
    stack.call("analyst", setSimulationStatus, { simulationId: await firstId(), status: SimulationStatus.RUNNING }),
  );
  expect(over.rawMessage).toContain("it is over");
  expect(stack.sandbox.audit.filter(({ method }) => method === "PUT")).toHaveLength(attempts);
});

test("a simulation is not reset through its state", async () => {
  expect(
    await refused(
      stack.call("analyst", setSimulationStatus, {
        simulationId: await firstId(),
        status: SimulationStatus.SCHEDULED,
      }),
    ),
  ).toMatchObject({ code: Code.InvalidArgument });
});

test("injects of a scenario come in the order of their time, without the contract's content", async () => {
  const { scenarios } = await stack.call("analyst", ScenarioService.method.searchScenarios, { pageSize: 1 });
  const parent = { case: "scenarioId" as const, value: scenarios[0]?.id ?? "" };
  const { injects, totalSize } = await stack.call("analyst", searchInjects, { parent });
  expect(totalSize).toBeGreaterThan(5);
  const delays = injects.map(({ delaySeconds }) => delaySeconds ?? -1);
  expect(delays).toEqual([...delays].sort((a, b) => a - b));
  expect(injects[0]).toMatchObject({ type: "openaev_email", action: "Send individual mails", ready: true });
  expect(JSON.stringify(injects).length / injects.length).toBeLessThan(1_000);
});

test("injects of a simulation tell how far they have come and how they turned out", async () => {
  const parent = { case: "simulationId" as const, value: await firstId() };
  const { injects } = await stack.call("analyst", searchInjects, { parent });
  expect(injects.some(({ status }) => status === InjectStatus.SUCCESS)).toBe(true);
  expect(injects.some(({ results }) => results.length > 0)).toBe(true);
  expect(injects.every(({ targets, targetCount }) => targets.length === Math.min(10, targetCount))).toBe(true);
});

test("a search of injects wants a scenario or a simulation", async () => {
  expect(await refused(stack.call("analyst", searchInjects, {}))).toMatchObject({ code: Code.InvalidArgument });
});
