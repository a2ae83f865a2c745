import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { InjectRunService } from "#proto/aev/v1/inject_run_service_pb.js";
import { InjectService, InjectStatus } from "#proto/aev/v1/inject_service_pb.js";
import {
  InjectorContractService,
  type ListInjectorContractsResponse,
} from "#proto/aev/v1/injector_contract_service_pb.js";
import { TargetKind } from "#proto/aev/v1/result_pb.js";
import { ScenarioService } from "#proto/aev/v1/scenario_service_pb.js";
import { SimulationStatus } from "#proto/aev/v1/simulation_pb.js";
import { SimulationService } from "#proto/aev/v1/simulation_service_pb.js";
import { DEFAULT_TENANT, SECOND_TENANT } from "../../../../../services/sandbox/aev/world.js";
import { type AevHarness, startAev } from "../../../../support/platforms/aev.js";
import { refusal } from "../../../../support/platforms/refusal.js";

const { listInjects, getInject, createInject, updateInject, setInjectEnabled, duplicateInject, deleteInject } =
  InjectService.method;
const runs = InjectRunService.method;
const { listInjectorContracts, getInjectorContract } = InjectorContractService.method;
const MAIL = "138ad8f8-32f8-4a22-8114-aaa12322bd09";
const UNKNOWN = "00000000-0000-4000-8000-000000000000";

let stack: AevHarness;
let now = Date.parse("2026-11-22T09:00:30Z");
let scenarioId = "";
const ids: Record<string, string> = {};

async function first(path: string, key: string, tenant = DEFAULT_TENANT): Promise<Record<string, string>[]> {
  const { body } = await stack.ask("admin", "POST", `/api/tenants/${tenant}/${path}/search`, {
    size: 1000,
    sorts: [{ property: key }],
  });
  return (body as { content: Record<string, string>[] }).content;
}

beforeAll(async () => {
  stack = await startAev({ now: () => now });
  const { scenario } = await stack.call(ScenarioService.method.createScenario, { name: "Injects" }, "analyst");
  scenarioId = scenario!.id;
  const endpoints = (await first("endpoints", "asset_name")) as unknown as {
    asset_id: string;
    asset_agents: { agent_id: string; agent_active: boolean }[];
  }[];
  ids.agentless = endpoints.find(({ asset_agents }) => asset_agents.length === 0)!.asset_id;
  const reached = endpoints.find(({ asset_agents: [agent] }) => agent?.agent_active === true)!;
  ids.reached = reached.asset_id;
  ids.agent = reached.asset_agents[0]!.agent_id;
  ids.team = (await first("teams", "team_name"))[0]!.team_id!;
  ids.foreignTeam = (await first("teams", "team_name", SECOND_TENANT))[0]!.team_id!;
  ids.foreignEndpoint = (await first("endpoints", "asset_name", SECOND_TENANT))[0]!.asset_id!;
  const { injectorContracts } = await stack.call(listInjectorContracts, { query: "Scheduled Task" }, "analyst");
  ids.attack = injectorContracts[0]!.id;
});
afterAll(() => stack.close());

const made = async (more: object = {}) => {
  const { inject } = await stack.call(
    createInject,
    {
      parent: { case: "scenarioId", value: scenarioId },
      title: "Warn the team",
      injectorContractId: MAIL,
      content: { subject: "Drill", body: "<p>Hello</p>" },
      description: "First mail",
      delaySeconds: 60,
      teamIds: [ids.team!],
      ...more,
    },
    "analyst",
  );
  return inject!;
};

test("an inject is added with what it lacks told, and read as it was kept", async () => {
  const { inject, lacks } = await stack.call(
    createInject,
    {
      parent: { case: "scenarioId", value: scenarioId },
      title: " Mail ",
      injectorContractId: MAIL,
      content: { subject: "Drill" },
    },
    "analyst",
  );
  expect(lacks).toEqual(["teams: mandatory content", "body: mandatory content"]);
  expect(inject).toMatchObject({
    title: "Mail",
    enabled: true,
    content: { subject: "Drill" },
    action: { id: MAIL, name: "Send individual mails" },
    scenario: { id: scenarioId, name: "Injects" },
  });
  expect((await stack.call(getInject, { injectId: inject!.id }, "analyst")).inject).toEqual(inject);
});

test("targets, labels and actions of another tenant, or of none, are refused before anything is written", async () => {
  const before = await stack.call(
    listInjects,
    { parent: { case: "scenarioId", value: scenarioId }, pageSize: 100 },
    "analyst",
  );
  for (const [more, words] of [
    [{ teamIds: [ids.foreignTeam!] }, /team_ids: there is no/],
    [{ endpointIds: [ids.foreignEndpoint!] }, /endpoint_ids: there is no/],
    [{ assetGroupIds: [UNKNOWN] }, /asset_group_ids: there is no/],
    [{ labels: ["nothing"] }, /labels: there is no label/],
    [{ injectorContractId: UNKNOWN }, /injector_contract_id: there is no .*list_injector_contracts/],
  ] as const) {
    const error = await refusal(made(more));
    expect(error.code).toBe(Code.NotFound);
    expect(error.rawMessage).toMatch(words);
  }
  const after = await stack.call(
    listInjects,
    { parent: { case: "scenarioId", value: scenarioId }, pageSize: 100 },
    "analyst",
  );
  expect(after.totalSize).toBe(before.totalSize);
});

test("a field that the action has not is refused before anything is written, with the fields that it has", async () => {
  const all = { parent: { case: "scenarioId", value: scenarioId }, pageSize: 100 } as const;
  const before = await stack.call(listInjects, all, "analyst");
  const said = /^content: this action has no field subjekt; its fields are .*subject.*body/;
  const added = await refusal(made({ content: { subjekt: "Drill", body: "Hello" } }));
  expect([added.code, added.rawMessage]).toEqual([Code.InvalidArgument, expect.stringMatching(said)]);
  expect((await stack.call(listInjects, all, "analyst")).totalSize).toBe(before.totalSize);

  const long = await refusal(made({ content: { ["x".repeat(10_000)]: "1" } }));
  expect(long.rawMessage.length).toBeLessThan(300);

  const inject = await made({ content: { subject: "Drill", expectations: [], inReplyTo: "1" } });
  const change = { injectId: inject.id, title: "No", content: { subjekt: "Other" } };
  const changed = await refusal(stack.call(updateInject, change, "analyst"));
  expect([changed.code, changed.rawMessage]).toEqual([Code.InvalidArgument, expect.stringMatching(said)]);
  expect((await stack.call(getInject, { injectId: inject.id }, "analyst")).inject).toEqual(inject);
  const gone = await stack.call(updateInject, { injectId: inject.id, content: { inReplyTo: null } }, "analyst");
  expect(gone.inject!.content).toEqual({ subject: "Drill", expectations: [] });
});

test("a change keeps what it leaves out, although the platform replaces all", async () => {
  const inject = await made({ labels: ["phishing"], allTeams: true });
  const { inject: renamed } = await stack.call(
    updateInject,
    { injectId: inject.id, title: "Renamed", content: { subject: "Other", body: null } },
    "analyst",
  );
  expect(renamed).toEqual({
    ...inject,
    title: "Renamed",
    content: { subject: "Other" },
    updatedAt: renamed!.updatedAt,
  });
  const { inject: bare } = await stack.call(
    updateInject,
    { injectId: inject.id, description: "", allTeams: false, clearTeams: true, clearLabels: true },
    "analyst",
  );
  expect(bare).toMatchObject({
    title: "Renamed",
    description: "",
    teams: [],
    labels: [],
    allTeams: false,
    delaySeconds: 60,
  });
});

test("an attack is given the expectations that its action has", async () => {
  const inject = await made({ injectorContractId: ids.attack!, content: {}, teamIds: [], endpointIds: [ids.reached!] });
  const { expectations } = inject.content as { expectations: { expectation_type: string }[] };
  expect(expectations.map((one) => one.expectation_type)).toEqual(["PREVENTION", "DETECTION"]);
});

test("an inject is disabled, enabled, copied and deleted", async () => {
  const { id } = await made();
  expect(await stack.call(setInjectEnabled, { injectId: id }, "analyst")).toMatchObject({
    enabled: false,
    changed: true,
  });
  expect(await stack.call(setInjectEnabled, { injectId: id }, "analyst")).toMatchObject({ changed: false });
  const { inject: copy } = await stack.call(duplicateInject, { injectId: id }, "analyst");
  expect(copy).toMatchObject({ title: "Warn the team (duplicate)", enabled: false });
  expect(await stack.call(deleteInject, { injectId: id }, "analyst")).toMatchObject({
    deleted: { id, name: "Warn the team" },
    scenario: { id: scenarioId },
  });
  expect((await refusal(stack.call(getInject, { injectId: id }, "analyst"))).code).toBe(Code.NotFound);
  expect((await stack.call(getInject, { injectId: copy!.id }, "analyst")).inject).toMatchObject({ enabled: false });
});

test("who lacks a right is told its name, also where a grant would do", async () => {
  const { id } = await made();
  for (const [tool, args, words] of [
    [getInject, { injectId: id }, /ACCESS_ASSESSMENT.*OBSERVER/],
    [runs.getInjectStatus, { injectId: id }, /ACCESS_ASSESSMENT.*OBSERVER/],
  ] as const) {
    expect((await refusal(stack.call(tool as never, args as never, "nobody"))).rawMessage).toMatch(words);
  }
  for (const tool of [updateInject, setInjectEnabled, duplicateInject, deleteInject]) {
    const args = { injectId: id, title: "No", enabled: false };
    const error = await refusal(stack.call(tool as never, args as never, "reader"));
    expect(error.code).toBe(Code.PermissionDenied);
    expect(error.rawMessage).toMatch(/MANAGE_ASSESSMENT.*PLANNER/);
  }
});

test("nothing is added to or changed in a running simulation, where it would run by itself", async () => {
  await made();
  const events = stack.stream(ScenarioService.method.launchScenario, { scenarioId }, "analyst");
  const { value } = await events[Symbol.asyncIterator]().next();
  expect(value).toBeDefined();
  const { simulations } = await stack.call(SimulationService.method.listSimulations, { scenarioId }, "analyst");
  const simulationId = simulations[0]!.id;
  const { injects } = await stack.call(
    listInjects,
    { parent: { case: "simulationId", value: simulationId } },
    "analyst",
  );
  const injectId = injects[0]!.id;
  for (const [tool, args] of [
    [createInject, { parent: { case: "simulationId", value: simulationId }, title: "No", injectorContractId: MAIL }],
    [updateInject, { injectId, title: "No" }],
    [duplicateInject, { injectId }],
  ] as const) {
    const error = await refusal(stack.call(tool as never, args as never, "analyst"));
    expect(error.code).toBe(Code.FailedPrecondition);
    expect(error.rawMessage).toMatch(/is running.*set_simulation_status/);
  }
  expect(await stack.call(setInjectEnabled, { injectId }, "analyst")).toMatchObject({ changed: true });
  expect((await refusal(stack.call(setInjectEnabled, { injectId, enabled: true }, "analyst"))).rawMessage).toMatch(
    /is running/,
  );
  await stack.call(
    SimulationService.method.setSimulationStatus,
    { simulationId, status: SimulationStatus.PAUSED },
    "analyst",
  );
  const { inject } = await stack.call(updateInject, { injectId, title: "Now" }, "analyst");
  expect(inject).toMatchObject({ title: "Now", simulation: { id: simulationId }, enabled: false });
});

test("why an inject failed is told: which endpoint has no agent, and what agents did elsewhere", async () => {
  await made({
    title: "Attack",
    injectorContractId: ids.attack!,
    content: {},
    teamIds: [],
    delaySeconds: 86_400,
    endpointIds: [ids.agentless!, ids.reached!],
  });
  // Later than the run of the test before: the newest change comes first.
  now += 1_000;
  const events = stack.stream(ScenarioService.method.launchScenario, { scenarioId }, "analyst");
  await events[Symbol.asyncIterator]().next();
  const { simulations } = await stack.call(SimulationService.method.listSimulations, { scenarioId }, "analyst");
  const simulationId = simulations[0]!.id;
  const { injects } = await stack.call(
    listInjects,
    { parent: { case: "simulationId", value: simulationId }, query: "Attack" },
    "analyst",
  );
  const injectId = injects[0]!.id;
  const waiting = await stack.call(runs.getInjectStatus, { injectId }, "analyst");
  expect(waiting).toMatchObject({ status: InjectStatus.DRAFT, traces: [] });
  expect(
    (
      await refusal(
        stack.call(
          runs.getInjectExecutionResult,
          { injectId, targetId: ids.reached!, targetKind: TargetKind.ENDPOINT },
          "analyst",
        ),
      )
    ).rawMessage,
  ).toMatch(/has not run yet/);

  now += 90_000;
  const triggered = stack.stream(runs.launchInject, { injectId }, "analyst");
  const said: string[] = [];
  for await (const { event } of triggered) {
    if (event.case === "progress") said.push(event.value.message);
    now += 60_000;
    if (event.case !== "result") continue;
    expect(event.value).toMatchObject({ inject: { id: injectId }, targetCount: 2, status: InjectStatus.PARTIAL });
    expect(event.value.remaining).toMatch(/get_inject_status/);
  }
  expect(said[0]).toMatch(/^about to run "Attack" \(.+\) on .+, .+$/);

  const status = await stack.call(runs.getInjectStatus, { injectId }, "analyst");
  expect(status.traces).toMatchObject([{ status: "asset_agentless", endpoint: { id: ids.agentless } }]);
  expect(status.hint).toMatch(/get_inject_execution_traces/);
  const { targets, totalSize } = await stack.call(
    runs.listInjectTargets,
    { injectId, targetKind: TargetKind.ENDPOINT },
    "analyst",
  );
  expect(totalSize).toBe(2);
  expect(targets.map(({ id }) => id).sort()).toEqual([ids.agentless, ids.reached].sort());
  const { traces } = await stack.call(
    runs.getInjectExecutionTraces,
    { injectId, targetId: ids.agent!.toUpperCase(), targetKind: TargetKind.AGENT },
    "analyst",
  );
  expect(traces.map((one) => one.status)).toEqual(["info", "success", "info"]);
  const result = await stack.call(
    runs.getInjectExecutionResult,
    { injectId, targetId: ids.reached!, targetKind: TargetKind.ENDPOINT },
    "analyst",
  );
  expect(result.commands).toHaveLength(1);
  expect(result.outputs).toMatchObject([{ status: "success", agent: { id: ids.agent } }]);
  // The platform answers for an endpoint that was no target with the commands that others ran.
  const stranger = { injectId, targetId: injectId, targetKind: TargetKind.ENDPOINT };
  for (const asked of [
    () => stack.call(runs.getInjectExecutionResult, stranger, "analyst"),
    () => stack.call(runs.getInjectExecutionTraces, stranger, "analyst"),
  ])
    expect(await refusal(asked())).toMatchObject({
      code: Code.NotFound,
      rawMessage: expect.stringMatching(/^target_id: .*list_inject_targets/),
    });
  const again = stack.stream(runs.launchInject, { injectId }, "analyst")[Symbol.asyncIterator]().next();
  expect((await refusal(again)).rawMessage).toMatch(/is finished|has already run/);
});

test("an inject of a scenario is not run by itself", async () => {
  const { id } = await made();
  const events = stack.stream(runs.launchInject, { injectId: id }, "analyst")[Symbol.asyncIterator]().next();
  expect((await refusal(events)).rawMessage).toMatch(/launch_scenario/);
});

test("actions are found by technique, system and carrier, and read with their fields", async () => {
  const { attackPatternCount, id } = (await stack.call(listInjectorContracts, { query: "Scheduled Task" }, "analyst"))
    .injectorContracts[0]!;
  expect(attackPatternCount).toBe(1);
  const one = await stack.call(getInjectorContract, { injectorContractId: id }, "analyst");
  expect(one.fields.map(({ key }) => key)).toEqual(["assets", "asset_groups", "expectations"]);
  expect(one.expectations.map(({ type }) => type)).toEqual(["PREVENTION", "DETECTION"]);
  const [technique] = one.attackPatterns;
  const of = await stack.call(listInjectorContracts, { attackPatternId: technique!.id }, "analyst");
  expect(of.injectorContracts.map((row) => row.id)).toEqual([id]);
  const mails = await stack.call(listInjectorContracts, { type: "openaev_email" }, "nobody");
  expect(mails.injectorContracts.map((row) => row.id)).toEqual([MAIL]);
});

test("what payloads play is shown to whom payloads are shown, in a search as in a read", async () => {
  const asked = { query: "Hidden attack" };
  const payload = {
    payload_type: "Command",
    payload_name: asked.query,
    payload_source: "MANUAL",
    payload_status: "VERIFIED",
    payload_platforms: ["Linux"],
    command_executor: "sh",
    command_content: "id",
  };
  expect((await stack.ask("admin", "POST", `/api/tenants/${DEFAULT_TENANT}/payloads`, payload)).status).toBe(200);
  expect((await stack.call(listInjectorContracts, asked, "operator")).totalSize).toBe(1);
  expect((await stack.call(listInjectorContracts, asked, "launcher")).totalSize).toBe(0);
  const mails = await stack.call(listInjectorContracts, { query: "individual mails" }, "launcher");
  expect(mails.injectorContracts.map(({ id }) => id)).toEqual([MAIL]);
});

test("a warning of the platform keeps no inject from running, a missing agent does", async () => {
  const parent = { case: "scenarioId", value: scenarioId } as const;
  const path = `/api/tenants/${DEFAULT_TENANT}/scenarios/${scenarioId}/injects`;
  const mail = { inject_title: "Mail", inject_injector_contract: MAIL, inject_content: { subject: "S", body: "B" } };
  const { body } = await stack.ask("admin", "POST", path, { ...mail, inject_teams: [ids.team] });
  expect(body).toMatchObject({ inject_healthchecks: [{ type: "IMAP", status: "WARNING" }] });
  const content = { subject: "S", body: "B" };
  const sent = { parent, title: "Mail", injectorContractId: MAIL, content, teamIds: [ids.team!] };
  expect((await stack.call(createInject, sent, "analyst")).lacks).toEqual([]);
  const attack = { parent, title: "Attack", injectorContractId: ids.attack!, endpointIds: [ids.agentless!] };
  expect((await stack.call(createInject, attack, "analyst")).lacks).toEqual(["agent or executor: empty"]);
});

test("actions stand in the order of their names, page after page", async () => {
  const names: string[] = [];
  let pageToken: string | undefined = "";
  do {
    const page: ListInjectorContractsResponse = await stack.call(
      listInjectorContracts,
      { pageSize: 3, pageToken },
      "analyst",
    );
    names.push(...page.injectorContracts.map(({ name }) => name.toLowerCase()));
    pageToken = page.nextPageToken;
  } while (pageToken);
  expect(names.length).toBeGreaterThan(6);
  expect(names).toEqual([...names].sort());
});

test("a step of a scenario has no people yet: the platform fails on them, the tool says what to ask", async () => {
  const { id: injectId } = await made();
  for (const [targetKind, word] of [
    [TargetKind.TEAM, "TEAMS"],
    [TargetKind.PLAYER, "PLAYERS"],
  ] as const) {
    const path = `/api/tenants/${DEFAULT_TENANT}/injects/${injectId}/targets/${word}/search`;
    expect((await stack.ask("admin", "POST", path, { size: 10 })).status).toBe(500);
    const call = stack.call(runs.listInjectTargets, { injectId, targetKind }, "analyst");
    expect(await refusal(call)).toMatchObject({
      code: Code.FailedPrecondition,
      rawMessage: expect.stringMatching(/belongs to scenario .*get_inject shows the teams/),
    });
  }
});

test("of a team of a scenario's step there are no traces yet, and another team is no target of it", async () => {
  const { id: injectId } = await made();
  const traces = (targetId: string) =>
    stack.call(runs.getInjectExecutionTraces, { injectId, targetId, targetKind: TargetKind.TEAM }, "analyst");
  expect((await traces(ids.team!)).traces).toEqual([]);
  expect(await refusal(traces(injectId))).toMatchObject({ code: Code.FailedPrecondition });
});
