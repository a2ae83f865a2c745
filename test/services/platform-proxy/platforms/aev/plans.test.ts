import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { InjectorContractService } from "#proto/aev/v1/injector_contract_service_pb.js";
import { PayloadExpectation, PayloadService, PayloadStatus, PayloadType } from "#proto/aev/v1/payload_service_pb.js";
import { ScenarioPlanService } from "#proto/aev/v1/scenario_plan_service_pb.js";
import { ScenarioService } from "#proto/aev/v1/scenario_service_pb.js";
import { SimulationStatus } from "#proto/aev/v1/simulation_pb.js";
import { SimulationPlanService } from "#proto/aev/v1/simulation_plan_service_pb.js";
import { SimulationService } from "#proto/aev/v1/simulation_service_pb.js";
import { VariableService } from "#proto/aev/v1/variable_service_pb.js";
import { cronProblem } from "../../../../../services/platform-proxy/platforms/aev/cron.js";
import { DEFAULT_TENANT } from "../../../../../services/sandbox/aev/world.js";
import { type AevHarness, startAev } from "../../../../support/platforms/aev.js";
import { refusal } from "../../../../support/platforms/refusal.js";

const payloads = PayloadService.method;
const simulations = SimulationPlanService.method;
const scenarios = ScenarioPlanService.method;
const variables = VariableService.method;
const { listSimulations, getSimulation } = SimulationService.method;
const { getScenario } = ScenarioService.method;
let stack: AevHarness;
/** The planner is a member of two tenants. */
const call: AevHarness["call"] = (method, args, ...rest) =>
  stack.call(method, { tenantId: DEFAULT_TENANT, ...args } as typeof args, ...rest);

beforeAll(async () => {
  stack = await startAev();
});
afterAll(() => stack.close());

const aScenario = async () => (await call(ScenarioService.method.listScenarios, {}, "planner")).scenarios[3]!.id;

test("a payload is created with its action, changed without losing the rest, and deleted", async () => {
  const { payload } = await call(
    payloads.createPayload,
    {
      type: PayloadType.COMMAND,
      name: " Who am I ",
      platforms: ["Linux", "MacOS"],
      executor: "sh",
      command: "id #{who}",
      cleanupCommand: "true",
      arguments: [{ key: "who", defaultValue: "root" }],
      expectations: [PayloadExpectation.DETECTION],
      labels: ["phishing"],
    },
    "planner",
  );
  expect(payload).toMatchObject({
    name: "Who am I",
    platforms: ["Linux", "MacOS"],
    status: PayloadStatus.UNVERIFIED,
    source: "manual",
    labels: ["phishing"],
    arguments: [{ key: "who", type: "text", defaultValue: "root" }],
  });
  const contract = await call(
    InjectorContractService.method.getInjectorContract,
    { injectorContractId: payload!.injectorContract!.id },
    "planner",
  );
  expect(contract.payload).toMatchObject({ id: payload!.id, name: "Who am I" });
  const { payload: changed } = await call(
    payloads.updatePayload,
    { payloadId: payload!.id, description: "Says who" },
    "planner",
  );
  expect(changed).toEqual({ ...payload, description: "Says who", updatedAt: changed!.updatedAt });
  const { payload: bare } = await call(
    payloads.updatePayload,
    { payloadId: payload!.id, clearLabels: true, clearArguments: true },
    "planner",
  );
  expect(bare).toMatchObject({ labels: [], arguments: [], command: "id #{who}", description: "Says who" });
  const { payload: left } = await call(
    payloads.updatePayload,
    { payloadId: payload!.id, cleanupCommand: "" },
    "planner",
  );
  expect(left).toMatchObject({ command: "id #{who}", cleanupCommand: "", cleanupExecutor: "" });
  for (const [half, words] of [
    [{ executor: "" }, "executor: must not be empty"],
    [{ command: "" }, "command: must not be empty"],
  ] as const)
    expect(
      (await refusal(call(payloads.updatePayload, { payloadId: payload!.id, ...half }, "planner"))).rawMessage,
    ).toBe(words);
  const other = { payloadId: payload!.id, hostname: "a.example" };
  expect((await refusal(call(payloads.updatePayload, other, "planner"))).rawMessage).toMatch(
    /^hostname: only a payload of type dns_resolution has one; leave it out/,
  );
  expect(await call(payloads.deletePayload, { payloadId: payload!.id }, "planner")).toMatchObject({
    deleted: { id: payload!.id },
  });
  expect((await refusal(call(payloads.getPayload, { payloadId: payload!.id }, "planner"))).code).toBe(Code.NotFound);
});

test("payloads are found by kind, system and review, those of one name with an action each", async () => {
  const { payloads: rows } = await call(
    payloads.listPayloads,
    { query: "list users", statuses: [PayloadStatus.VERIFIED], types: [PayloadType.COMMAND] },
    "reader",
  );
  expect(rows.map(({ platforms }) => platforms).sort()).toEqual([["Linux"], ["MacOS"]]);
  const details = await Promise.all(
    rows.map(async ({ id }) => (await call(payloads.getPayload, { payloadId: id }, "reader")).payload!),
  );
  const contracts = details.map(({ injectorContract }) => injectorContract?.id);
  expect(new Set(contracts).size).toBe(2);
  expect((await call(payloads.listPayloads, {}, "nobody")).totalSize).toBe(0);
  const error = await refusal(call(payloads.getPayload, { payloadId: rows[0]!.id }, "nobody"));
  expect(error.rawMessage).toMatch(/ACCESS_PAYLOADS.*OBSERVER on this payload/);
});

test("what the platform would fail at or drop is refused before: a payload without its command, unknown references", async () => {
  const base = { name: "No", platforms: ["Linux"], type: PayloadType.COMMAND };
  const id = "00000000-0000-4000-8000-000000000000";
  for (const [more, words] of [
    [{}, /command needs executor and command/],
    [{ type: PayloadType.NETWORK_TRAFFIC }, /type: must be one of command, executable, file_drop, dns_resolution/],
    [
      { type: PayloadType.DNS_RESOLUTION, hostname: "a.example", executor: "sh" },
      /^executor: give executor and command/,
    ],
    [{ type: PayloadType.DNS_RESOLUTION, hostname: "a.example", cleanupCommand: "x" }, /^cleanup_command: needs exec/],
    [{ executor: "sh", command: "id", hostname: "a.example" }, /^hostname: only a payload of type dns_resolution has/],
    [{ executor: "sh", command: "id", documentId: id }, /^document_id: only a payload of type executable or file_drop/],
    [
      { type: PayloadType.DNS_RESOLUTION, hostname: "a.example", executor: "sh", command: "id" },
      /^command: only a payload of type command has one; leave it out/,
    ],
    [{ executor: "sh", command: "id", attackPatternIds: [id] }, /attack_pattern_ids: there is no/],
  ] as const) {
    expect(
      (await refusal(call(payloads.createPayload, { ...base, ...(more as object) }, "planner"))).rawMessage,
    ).toMatch(words);
  }
});

test("a simulation of its own is created, changed, given a start and deleted", async () => {
  const startAt = timestampFromMs(Date.now() + 86_400_000);
  const { simulation } = await call(
    simulations.createSimulation,
    { name: "Own", description: "Why", category: "global-crisis", labels: ["phishing"] },
    "planner",
  );
  const simulationId = simulation!.id;
  expect(simulation).toMatchObject({ name: "Own", labels: ["phishing"], status: SimulationStatus.SCHEDULED });
  const { simulation: changed } = await call(simulations.updateSimulation, { simulationId, name: "Other" }, "planner");
  expect(changed).toMatchObject({ name: "Other", description: "Why", category: "global-crisis", labels: ["phishing"] });
  const { simulation: dated } = await call(simulations.setSimulationStartDate, { simulationId, startAt }, "planner");
  expect(Number(dated!.startedAt!.seconds) % 60).toBe(0);
  const past = call(simulations.setSimulationStartDate, { simulationId, startAt: timestampFromMs(0) }, "planner");
  expect((await refusal(past)).rawMessage).toMatch(/is in the past/);
  const { simulation: free } = await call(simulations.setSimulationStartDate, { simulationId }, "planner");
  expect(free!.startedAt).toBeUndefined();
  expect((await refusal(call(simulations.resetSimulation, { simulationId }, "planner"))).rawMessage).toMatch(
    /is scheduled, and only a finished/,
  );
  await call(simulations.deleteSimulation, { simulationId }, "planner");
  expect((await refusal(call(getSimulation, { simulationId }, "planner"))).code).toBe(Code.NotFound);
});

test("a finished simulation tells its results by technique, and is put back and deleted although people take part", async () => {
  const { simulations: rows } = await call(listSimulations, { statuses: [SimulationStatus.FINISHED] }, "planner");
  let simulationId = "";
  for (const { id } of rows) {
    const { attackPatterns } = await call(
      simulations.getSimulationResultsByAttackPattern,
      { simulationId: id },
      "planner",
    );
    expect(
      attackPatterns.every(({ externalId, name, injects }) => externalId !== "" && name !== "" && injects.length > 0),
    ).toBe(true);
    expect(attackPatterns.map(({ externalId }) => externalId)).toEqual(
      attackPatterns.map(({ externalId }) => externalId).sort(),
    );
    simulationId = id;
  }
  const { simulation } = await call(simulations.resetSimulation, { simulationId }, "planner");
  expect(simulation).toMatchObject({ status: SimulationStatus.SCHEDULED });
  const deletion = call(simulations.deleteSimulation, { simulationId }, "planner");
  // One with media pressure and attacks is never deleted there.
  const said = await deletion.catch((error: { rawMessage: string }) => error.rawMessage);
  if (typeof said === "string") expect(said).toMatch(/may or may not have been made|a part of the change/);
  else expect(said).toMatchObject({ deleted: { id: simulationId } });
});

test("a scenario is copied, given teams, checked and scheduled", async () => {
  const scenarioId = await aScenario();
  const { scenario: origin } = await call(getScenario, { scenarioId }, "planner");
  const { scenario, notices } = await call(scenarios.duplicateScenario, { scenarioId }, "planner");
  expect(scenario!.name).toMatch(/ \(duplicate\)$/);
  // The platform itself lets nobody take part in a copy.
  expect(origin!.players).toBeGreaterThan(0);
  expect([scenario!.players, notices]).toEqual([origin!.players, []]);
  const { body } = await stack.ask("planner", "POST", "/api/teams/search", {
    size: 3,
    sorts: [{ property: "team_name" }],
  });
  const teamIds = (body as { content: { team_id: string }[] }).content.slice(0, 2).map(({ team_id }) => team_id);
  const { teams } = await call(scenarios.setScenarioTeams, { scenarioId: scenario!.id, teamIds }, "planner");
  expect(teams.map(({ id }) => id).sort()).toEqual([...teamIds].sort());
  expect((await call(scenarios.setScenarioTeams, { scenarioId: scenario!.id, teamIds }, "planner")).teams).toEqual(
    teams,
  );
  const none = call(scenarios.setScenarioTeams, { scenarioId: scenario!.id }, "planner");
  expect((await refusal(none)).rawMessage).toMatch(/clear_teams/);
  const { problems } = await call(scenarios.checkScenarioHealth, { scenarioId: scenario!.id }, "planner");
  expect(problems[0]).toMatchObject({ subject: "imap", problem: "service_unavailable", blocks: false });
  const kept = await call(
    scenarios.scheduleScenario,
    { scenarioId: scenario!.id, recurrence: "0 0 9 * * MON", endAt: timestampFromMs(Date.parse("2090-01-01")) },
    "planner",
  );
  expect(kept.scenario).toMatchObject({ recurrence: "0 0 9 * * MON" });
  expect(kept.startAt).toBeDefined();
  const { scenario: read } = await call(getScenario, { scenarioId: scenario!.id }, "planner");
  expect([read!.recurrenceStartAt, read!.recurrenceEndAt]).toEqual([kept.startAt, kept.endAt]);
  const never = await call(scenarios.scheduleScenario, { scenarioId: scenario!.id }, "planner");
  expect(never.scenario!.recurrence).toBeUndefined();
  const { scores, leftOut } = await call(scenarios.getScenarioStatistics, { scenarioId }, "planner");
  const { simulations: runs } = await call(listSimulations, { scenarioId, pageSize: 100 }, "planner");
  const told = new Set(scores.map(({ simulation }) => simulation?.id));
  expect(told.size + leftOut).toBe(runs.length);
  for (const { simulation, canceled } of scores) {
    const { status } = runs.find(({ id }) => id === simulation?.id)!;
    expect(status).toBe(canceled ? SimulationStatus.CANCELED : SimulationStatus.FINISHED);
  }
  expect(scores.every(({ kind, successPercent }) => kind !== "" && successPercent >= 0 && successPercent <= 100)).toBe(
    true,
  );
});

test.each([
  ["0 0 9 * * MON", undefined],
  ["0 0/15 8-18 ? * MON-FRI", undefined],
  ["0 0 9 L * ?", undefined],
  ["0 0 9 * *", /has 5 fields/],
  ["0 99 9 * * *", /"99" is not valid for the minutes/],
  ["0 0 9 * * FUNDAY", /day of week/],
  ["0 0/0 9 * * *", /minutes/],
])("of %j it is said what is wrong", (expression, words) => {
  if (words === undefined) expect(cronProblem(expression)).toBeUndefined();
  else expect(cronProblem(expression)).toMatch(words);
});

test("a variable is created once, changed by its key, and not taken through another scenario", async () => {
  const value = await aScenario();
  const parent = { case: "scenarioId", value } as const;
  const first = await call(
    variables.setVariable,
    { parent, key: "town", value: "Berlin", description: "Where" },
    "planner",
  );
  expect(first).toMatchObject({ created: true, variable: { key: "town", value: "Berlin" } });
  const second = await call(variables.setVariable, { parent, key: "town", value: "Paris" }, "planner");
  expect(second).toMatchObject({
    created: false,
    variable: { id: first.variable!.id, value: "Paris", description: "Where" },
  });
  expect((await call(variables.listVariables, { parent }, "reader")).variables).toEqual([second.variable]);
  const { scenarios: rows } = await call(ScenarioService.method.listScenarios, {}, "planner");
  const other = { case: "scenarioId", value: rows.find(({ id }) => id !== value)!.id } as const;
  const variableId = first.variable!.id;
  // The platform's word for what its database does not take is that of a conflict.
  const town = { parent, key: "town" } as const;
  expect((await refusal(call(variables.setVariable, { ...town, value: "a\0b" }, "planner"))).rawMessage).toBe(
    "value: has a NUL character, which OpenAEV cannot store",
  );
  expect((await refusal(call(variables.setVariable, { ...town, value: "x".repeat(256) }, "planner"))).rawMessage).toBe(
    "value: must be at most 255 characters",
  );
  // One after the other: a refusal that nobody waits for yet ends the run.
  for (const attempt of [
    () => call(variables.setVariable, { parent: other, key: "town", variableId }, "planner"),
    () => call(variables.deleteVariable, { parent: other, variableId }, "planner"),
  ])
    expect((await refusal(attempt())).rawMessage).toMatch(/variable_id: there is no/);
  await call(variables.deleteVariable, { parent, variableId }, "planner");
  expect((await call(variables.listVariables, { parent }, "reader")).totalSize).toBe(0);
});
