import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AccountService, GrantLevel } from "#proto/aev/v1/account_service_pb.js";
import { ExpectationKind, Outcome } from "#proto/aev/v1/result_pb.js";
import { Severity } from "#proto/aev/v1/scenario_pb.js";
import { ScenarioService } from "#proto/aev/v1/scenario_service_pb.js";
import { SimulationStatus } from "#proto/aev/v1/simulation_pb.js";
import { SimulationService } from "#proto/aev/v1/simulation_service_pb.js";
import { type AevHarness, startAev } from "../../../../support/platforms/aev.js";
import { refusal } from "../../../../support/platforms/refusal.js";
import { type AevAnswering, recorded, startAevAnswering } from "./answering.js";
import { INPUTS } from "./upstream-fields.js";

// The tools for single objects on the platform's own answers and refusals.

const DEFAULT_TENANT = "2cffad3a-0001-4078-b0e2-ef74274022c3";
const DRILL = "7afcd113-a838-4ade-a5c5-9882ee2deba6";
const PHISHING = "745a61c7-5985-40b2-9e86-3a47439088df";
const RUN = "70ea73cc-948e-4c90-9aca-2ef02992d95a";

let platform: AevAnswering;
let stack: AevHarness;

beforeAll(async () => {
  platform = await startAevAnswering();
  stack = await startAev({ through: () => platform.url });
});
afterAll(async () => {
  await stack.close();
  await platform.close();
});

const at = (time: Parameters<typeof timestampDate>[0] | undefined) => time && timestampDate(time).toISOString();
const play = (...names: string[]) => platform.play(...names.map(recorded));

test("whoami tells grants and tenants, and that an administrator holds every right", async () => {
  expect(await stack.call(AccountService.method.whoami, {}, "observer")).toMatchObject({
    email: "observer@sallyport.example",
    name: "observer Test",
    unrestricted: false,
    grants: [{ object: { id: DRILL }, level: GrantLevel.OBSERVER }],
    tenants: [{ id: DEFAULT_TENANT, name: "First default tenant auto created to rename", capabilities: [] }],
  });
  expect(await stack.call(AccountService.method.whoami, {}, "admin")).toMatchObject({ unrestricted: true });
});

test("a scenario read by its id", async () => {
  play("scenario", "scenarioByName");
  const { scenario } = await stack.call(ScenarioService.method.getScenario, { scenarioId: DRILL }, "observer");
  expect(scenario).toMatchObject({
    id: DRILL,
    description: "Ransomware drill description",
    mainFocus: "incident-response",
    players: 2,
    simulations: [{ id: RUN }],
    labels: ["red-team"],
  });
  expect(at(scenario?.createdAt)).toBe("2026-11-21T13:12:18.065Z");
});

test("a scenario created with a name alone", async () => {
  play("scenarioCreated");
  const { scenario } = await stack.call(
    ScenarioService.method.createScenario,
    {
      name: " Check minimal ",
      description: "d",
      category: "c",
      mainFocus: "m",
      severity: Severity.LOW,
      labels: ["RED-team"],
    },
    "observer",
  );
  expect(platform.asked.at(-1)?.body).toMatchObject({ scenario_name: "Check minimal", scenario_severity: "low" });
  expect(scenario).toMatchObject({
    name: "Check minimal",
    severity: Severity.UNSPECIFIED,
    description: "",
    simulations: [],
    players: 0,
  });
});

test("an update writes back every field that the platform would clear", async () => {
  const changed = recorded("scenarioChanged");
  platform.play(recorded("scenarioGranted"), recorded("scenarioGrantedByName"), changed, {
    ...changed,
    path: `${changed.path}/tags`,
  });
  const request = { scenarioId: PHISHING, mainFocus: "web-filtering" };
  const { scenario } = await stack.call(ScenarioService.method.updateScenario, request, "observer");
  expect(scenario).toMatchObject({ id: PHISHING, severity: Severity.MEDIUM });
  const written = platform.asked.findLast(({ method }) => method === "PUT")?.body as Record<string, unknown>;
  const stored = changed.answer as Record<string, unknown>;
  const kept = (INPUTS["PUT /api/scenarios/{id}"] ?? []).filter((field) => field in stored);
  expect(kept.length).toBeGreaterThan(10);
  expect(written).toEqual({
    ...Object.fromEntries(kept.map((field) => [field, stored[field]])),
    scenario_main_focus: "web-filtering",
  });
});

test("a deleted scenario is looked for, and its simulations are told", async () => {
  const { path } = recorded("scenario");
  let gone = false;
  platform.play(
    recorded("scenarioByName"),
    { ...recorded("deleted"), path },
    {
      ...recorded("scenario"),
      get status() {
        const after = gone;
        gone = true;
        return after ? 404 : 200;
      },
    },
  );
  const reply = await stack.call(ScenarioService.method.deleteScenario, { scenarioId: DRILL }, "observer");
  expect(reply).toMatchObject({ deleted: { id: DRILL, name: "Ransomware drill" }, simulations: [{ id: RUN }] });
});

test("a launch whose simulation the caller may not read tells the simulation all the same", async () => {
  const launched = { ...recorded("launched"), path: `/api/scenarios/${DRILL}/exercise/running` };
  const path = "/api/exercises/75b1d8b2-e200-48c4-83c1-ee24e8e70957/injects/search";
  platform.play(recorded("scenario"), recorded("scenarioByName"), launched, { ...recorded("launchRefused"), path });
  const events = [];
  for await (const { event } of stack.stream(
    ScenarioService.method.launchScenario,
    {
      scenarioId: DRILL,
    },
    "observer",
  )) {
    events.push(event);
  }
  expect(events[0]).toMatchObject({ value: { message: expect.stringContaining("2026-11-21T13:13:00Z") } });
  expect(events.at(-1)).toMatchObject({
    case: "result",
    value: {
      started: false,
      simulation: { status: SimulationStatus.RUNNING, severity: Severity.HIGH, labels: ["red-team"], players: 0 },
      remaining: expect.stringContaining(
        "its progress could not be read: this account needs the right ACCESS_ASSESSMENT",
      ),
    },
  });
});

test("a simulation read by its id, and its results", async () => {
  play("simulation", "simulationByName", "noResults");
  const { simulation } = await stack.call(SimulationService.method.getSimulation, { simulationId: RUN }, "observer");
  expect(simulation).toMatchObject({
    description: "Ransomware drill description",
    status: SimulationStatus.RUNNING,
    severity: Severity.HIGH,
    scenario: { id: DRILL },
    players: 2,
    results: [{ kind: ExpectationKind.HUMAN_RESPONSE }],
  });
  expect(simulation?.targets.length).toBeGreaterThan(0);
  expect(simulation?.endedAt).toBeUndefined();
  const results = () => stack.call(SimulationService.method.getSimulationResults, { simulationId: RUN }, "observer");
  expect(await results()).toMatchObject({ name: "Ransomware drill", results: [] });
  const path = `/api/exercises/${RUN}/results`;
  platform.play(recorded("simulation"), recorded("simulationByName"), { ...recorded("results"), path });
  expect((await results()).results).toMatchObject([
    {
      kind: ExpectationKind.HUMAN_RESPONSE,
      outcome: Outcome.PENDING,
      counts: [
        { outcome: Outcome.SUCCESS, count: 0 },
        { outcome: Outcome.PENDING, count: 1 },
      ],
    },
  ]);
});

test("a simulation that is paused, and one that the platform does not pause", async () => {
  const path = `/api/exercises/${RUN}/status`;
  const pause = () =>
    stack.call(
      SimulationService.method.setSimulationStatus,
      {
        simulationId: RUN,
        status: SimulationStatus.PAUSED,
      },
      "observer",
    );
  platform.play(recorded("simulation"), recorded("simulationByName"), { ...recorded("paused"), path });
  expect(await pause()).toMatchObject({ changed: true, simulation: { status: SimulationStatus.PAUSED } });
  platform.play(recorded("simulation"), recorded("simulationByName"), { ...recorded("wrongState"), path });
  expect(await refusal(pause())).toMatchObject({ code: Code.Unavailable });
});

test.each([
  ["blankName", Code.InvalidArgument, "name: this value should not be blank"],
  ["unknownKey", Code.InvalidArgument, "search or sort"],
  ["unknownOperator", Code.InvalidArgument, "did not say which"],
  ["scenarioRefused", Code.PermissionDenied, "needs the right"],
  ["tenantDenied", Code.PermissionDenied, "member of that tenant"],
  ["scenarioUnknown", Code.NotFound, "does not have this object"],
  ["conflict", Code.AlreadyExists, "conflicts with an existing object"],
  ["wrongState", Code.Unavailable, "may or may not have been made"],
])("the refusal %s is told in the caller's words", async (name, code, words) => {
  const { status, answer } = recorded(name);
  platform.play({ method: "POST", path: "/api/scenarios", status, answer });
  const error = await refusal(stack.call(ScenarioService.method.createScenario, { name: "x" }, "observer"));
  expect(error.code).toBe(code);
  expect(error.rawMessage).toContain(words);
  expect(error.rawMessage).not.toMatch(/insert into|Queryable|\/api\/|Element not found/);
});
