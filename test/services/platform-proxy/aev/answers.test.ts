import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AccountService, GrantLevel } from "#proto/aev/v1/account_service_pb.js";
import { AssetService, EndpointPlatform } from "#proto/aev/v1/asset_service_pb.js";
import { FindingService } from "#proto/aev/v1/finding_service_pb.js";
import { InjectService, InjectStatus } from "#proto/aev/v1/inject_service_pb.js";
import { ExpectationKind, Outcome, TargetKind } from "#proto/aev/v1/result_pb.js";
import { Severity } from "#proto/aev/v1/scenario_pb.js";
import { ScenarioService } from "#proto/aev/v1/scenario_service_pb.js";
import { SimulationStatus } from "#proto/aev/v1/simulation_pb.js";
import { SimulationOrder, SimulationService } from "#proto/aev/v1/simulation_service_pb.js";
import { TechniqueService } from "#proto/aev/v1/technique_service_pb.js";
import { recorded, startAnswering } from "./answering.js";
import { type Stack, startStack } from "./harness.js";
import { refused } from "./refused.js";
import { INPUTS, SEARCHES } from "./upstream-fields.js";

// The tools on the platform's own answers: what they make of each, and that
// they ask for nothing that it does not take.

const DEFAULT_TENANT = "2cffad3a-0001-4078-b0e2-ef74274022c3";
const SECOND_TENANT = "2cffad3a-0002-4078-b0e2-ef74274022c3";
const DRILL = "7afcd113-a838-4ade-a5c5-9882ee2deba6";
const PHISHING = "745a61c7-5985-40b2-9e86-3a47439088df";
const RUN = "70ea73cc-948e-4c90-9aca-2ef02992d95a";
const TEAM = { id: "0aae9d2d-3c76-45d5-9ade-2a22942bdabe", name: "Blue team", kind: TargetKind.TEAM };
const BETWEEN = [
  { seconds: 1_700_000_000n, nanos: 0 },
  { seconds: 1_800_000_000n, nanos: 0 },
] as const;

let platform: Awaited<ReturnType<typeof startAnswering>>;
let stack: Stack;

beforeAll(async () => {
  platform = await startAnswering();
  stack = await startStack({ through: () => platform.url });
});
afterAll(async () => {
  await stack.close();
  await platform.close();
});

const at = (time: Parameters<typeof timestampDate>[0] | undefined) => time && timestampDate(time).toISOString();
const play = (...names: string[]) => platform.play(...names.map(recorded));

test("whoami tells grants and tenants, and that an administrator holds every right", async () => {
  expect(await stack.call("observer", AccountService.method.whoami, {})).toMatchObject({
    email: "observer@sallyport.example",
    name: "observer Test",
    unrestricted: false,
    capabilities: [],
    grants: [{ objectId: DRILL, level: GrantLevel.OBSERVER }],
    tenants: [{ id: DEFAULT_TENANT, name: "First default tenant auto created to rename" }],
  });
  expect(await stack.call("admin", AccountService.method.whoami, {})).toMatchObject({ unrestricted: true });
});

test("a member of two tenants names one, and every request goes there", async () => {
  play("scenarios");
  const none = await refused(stack.call("planner", ScenarioService.method.searchScenarios, {}));
  expect(none.rawMessage).toContain(`Second tenant (${SECOND_TENANT})`);
  platform.asked.length = 0;
  await stack.call("planner", ScenarioService.method.searchScenarios, { tenantId: SECOND_TENANT });
  const inside = platform.asked.filter(({ path }) => !path.startsWith("/api/me"));
  expect(inside.map(({ tenant }) => tenant)).toEqual([SECOND_TENANT, SECOND_TENANT]);
});

test("rows of a search for scenarios", async () => {
  play("scenarios");
  const reply = await stack.call("observer", ScenarioService.method.searchScenarios, {
    text: "drill",
    severities: [Severity.HIGH],
    categories: ["attack-scenario"],
    tags: ["red-team"],
    updatedAfter: BETWEEN[0],
    updatedBefore: BETWEEN[1],
  });
  expect(reply).toMatchObject({ totalSize: 3, nextPageToken: expect.any(String) });
  expect(reply.scenarios).toMatchObject([
    {
      id: DRILL,
      name: "Ransomware drill",
      severity: Severity.HIGH,
      category: "attack-scenario",
      tags: ["red-team"],
      platforms: ["Internal", "Linux"],
    },
    { id: PHISHING, name: "Phishing wave", severity: Severity.MEDIUM },
  ]);
  expect(reply.scenarios[0]).not.toHaveProperty("recurrence");
});

test("a scenario read by its id", async () => {
  play("scenario", "scenarioByName");
  const { scenario } = await stack.call("observer", ScenarioService.method.getScenario, { scenarioId: DRILL });
  expect(scenario).toMatchObject({
    id: DRILL,
    description: "Ransomware drill description",
    mainFocus: "incident-response",
    players: 2,
    simulationIds: [RUN],
    tags: ["red-team"],
  });
  expect(at(scenario?.createdAt)).toBe("2026-11-21T13:12:18.065Z");
});

test("a scenario created with a name alone", async () => {
  play("scenarioCreated");
  const { scenario } = await stack.call("observer", ScenarioService.method.createScenario, {
    name: " Check minimal ",
    description: "d",
    category: "c",
    mainFocus: "m",
    severity: Severity.LOW,
    tags: ["RED-team"],
  });
  expect(platform.asked.at(-1)?.body).toMatchObject({ scenario_name: "Check minimal", scenario_severity: "low" });
  expect(scenario).toMatchObject({
    name: "Check minimal",
    severity: Severity.UNSPECIFIED,
    description: "",
    simulationIds: [],
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
  const { scenario } = await stack.call("observer", ScenarioService.method.updateScenario, request);
  expect(scenario).toMatchObject({ id: PHISHING, severity: Severity.MEDIUM });
  const written = platform.asked.findLast(({ method }) => method === "PUT")?.body as Record<string, unknown>;
  const stored = changed.body as Record<string, unknown>;
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
  const reply = await stack.call("observer", ScenarioService.method.deleteScenario, { scenarioId: DRILL });
  expect(reply).toMatchObject({ scenarioId: DRILL, name: "Ransomware drill", simulationIds: [RUN] });
});

test("a launch whose simulation the caller may not read tells the simulation all the same", async () => {
  const launched = { ...recorded("launched"), path: `/api/scenarios/${DRILL}/exercise/running` };
  const path = "/api/exercises/75b1d8b2-e200-48c4-83c1-ee24e8e70957/injects/search";
  platform.play(recorded("scenario"), recorded("scenarioByName"), launched, { ...recorded("launchRefused"), path });
  const events = [];
  for await (const { event } of stack.stream("observer", ScenarioService.method.launchScenario, {
    scenarioId: DRILL,
  })) {
    events.push(event);
  }
  expect(events[0]).toMatchObject({ value: { message: expect.stringContaining("it starts at 2026-11-21T13:13:00Z") } });
  expect(events.at(-1)).toMatchObject({
    case: "result",
    value: {
      started: false,
      simulation: { status: SimulationStatus.RUNNING, severity: Severity.HIGH, tags: ["red-team"], players: 0 },
      remaining: expect.stringContaining("could not be followed further: this account's own rights"),
    },
  });
});

test("rows of a search for simulations, one of them without a start", async () => {
  play("simulations", "scenario", "scenarioByName");
  const reply = await stack.call("observer", SimulationService.method.searchSimulations, {
    text: "drill",
    statuses: [SimulationStatus.RUNNING, SimulationStatus.CANCELED],
    scenarioId: DRILL,
    tags: ["red-team"],
    startedAfter: BETWEEN[0],
    startedBefore: BETWEEN[1],
    orderBy: SimulationOrder.STARTED,
  });
  const [draft, drill] = reply.simulations;
  expect(draft).toMatchObject({ name: "Tabletop draft", status: SimulationStatus.SCHEDULED, results: [], targets: [] });
  expect(draft?.startedAt).toBeUndefined();
  expect(drill).toMatchObject({
    id: RUN,
    status: SimulationStatus.RUNNING,
    results: [{ kind: ExpectationKind.HUMAN_RESPONSE, outcome: Outcome.UNKNOWN, counts: [] }],
    targets: [TEAM, { name: "web01", kind: TargetKind.ENDPOINT }],
  });
  expect(at(drill?.startedAt)).toBe("2026-11-21T13:13:00.000Z");
});

test("a simulation read by its id, and its results", async () => {
  play("simulation", "simulationByName", "noResults");
  const { simulation } = await stack.call("observer", SimulationService.method.getSimulation, { simulationId: RUN });
  expect(simulation).toMatchObject({
    description: "Ransomware drill description",
    status: SimulationStatus.RUNNING,
    severity: Severity.HIGH,
    scenarioId: DRILL,
    players: 2,
  });
  expect(simulation?.endedAt).toBeUndefined();
  const results = () => stack.call("observer", SimulationService.method.getSimulationResults, { simulationId: RUN });
  expect(await results()).toMatchObject({ name: "Ransomware drill", results: [] });
  const path = `/api/exercises/${RUN}/results`;
  platform.play(recorded("simulation"), recorded("simulationByName"), { ...recorded("results"), path });
  expect((await results()).results).toMatchObject([
    {
      kind: ExpectationKind.HUMAN_RESPONSE,
      outcome: Outcome.PENDING,
      counts: [
        { outcome: Outcome.SUCCESS, label: "Successful", count: 0 },
        { outcome: Outcome.PENDING, label: "Pending", count: 1 },
      ],
    },
  ]);
});

test("a simulation that is paused, and one that the platform does not pause", async () => {
  const path = `/api/exercises/${RUN}/status`;
  const pause = () =>
    stack.call("observer", SimulationService.method.setSimulationStatus, {
      simulationId: RUN,
      status: SimulationStatus.PAUSED,
    });
  platform.play(recorded("simulation"), recorded("simulationByName"), { ...recorded("paused"), path });
  expect(await pause()).toMatchObject({ changed: true, simulation: { status: SimulationStatus.PAUSED } });
  platform.play(recorded("simulation"), recorded("simulationByName"), { ...recorded("wrongState"), path });
  expect(await refused(pause())).toMatchObject({ code: Code.Internal });
});

test("injects of a scenario, whose targets the platform repeats", async () => {
  play("scenario", "scenarioByName", "injectsOfScenario");
  const { injects } = await stack.call("observer", InjectService.method.searchInjects, {
    parent: { case: "scenarioId", value: DRILL },
    text: "a",
  });
  expect(injects).toMatchObject([
    {
      title: "Wrap-up call",
      type: "openaev_manual",
      action: "Manual",
      platforms: ["Internal"],
      delaySeconds: 604_800,
      enabled: true,
      ready: false,
      targetCount: 0,
    },
    { title: "Warn the team", type: "openaev_email", action: "Send individual mails", targetCount: 1 },
  ]);
});

test("injects of a simulation that has not begun", async () => {
  play("simulation", "simulationByName", "injectsOfSimulation");
  const { injects } = await stack.call("observer", InjectService.method.searchInjects, {
    parent: { case: "simulationId", value: RUN },
    text: "a",
  });
  expect(injects).toMatchObject([
    { type: "openaev_channel", action: "Publish a media pressure", status: InjectStatus.DRAFT, targets: [TEAM] },
    {
      type: "openaev_implant",
      action: "List users",
      platforms: ["Linux"],
      targetCount: 2,
      targets: [{ kind: TargetKind.ENDPOINT }, { name: "Servers", kind: TargetKind.ASSET_GROUP }],
    },
  ]);
  expect(injects[0]?.sentAt).toBeUndefined();
});

test("endpoints with and without an agent", async () => {
  play("endpoints");
  const { endpoints } = await stack.call("observer", AssetService.method.searchEndpoints, {
    text: "0",
    platforms: [EndpointPlatform.MACOS],
    hostname: "agent01",
    ip: "10.0.0.1",
    tags: ["red-team"],
  });
  expect(endpoints).toMatchObject([
    { name: "win01", platform: EndpointPlatform.WINDOWS, arch: "x86_64", agents: [] },
    {
      name: "agent01",
      platform: EndpointPlatform.LINUX,
      agents: [{ executor: "OpenAEV Agent", active: true, elevated: true, version: "2.4.0" }],
    },
  ]);
  expect(at(endpoints[1]?.agents[0]?.lastSeenAt)).toBe("2026-11-21T13:12:16.943Z");
});

test("findings without an endpoint, and techniques without a parent", async () => {
  const endpointId = "97b3ef98-5dc8-4f67-9f58-abc655467b24";
  const answers = ["attackPatterns", "scenario", "scenarioByName", "simulation", "simulationByName", "endpoints"];
  for (const [path, scope] of [
    ["search", undefined],
    [`scenarios/${DRILL}/search`, { case: "scenarioId", value: DRILL }],
    [`exercises/${RUN}/search`, { case: "simulationId", value: RUN }],
    [`endpoints/${endpointId}/search`, { case: "endpointId", value: endpointId }],
  ] as const) {
    platform.play(...answers.map(recorded), { ...recorded("findings"), path: `/api/findings/${path}` });
    const { findings } = await stack.call("observer", FindingService.method.searchFindings, {
      ...(scope !== undefined && { scope }),
      text: "CVE",
      types: ["cve"],
      createdAfter: BETWEEN[0],
      createdBefore: BETWEEN[1],
    });
    expect(findings[0]).toMatchObject({
      type: "cve",
      value: "CVE-2021-44228",
      endpoints: [],
      assetGroups: [],
      inject: { name: "Atomic list users" },
    });
    expect(at(findings[0]?.createdAt)).toBe("2026-11-21T13:12:20.915Z");
  }
  const request = { text: "T1059" };
  const { attackPatterns } = await stack.call("observer", TechniqueService.method.searchAttackPatterns, request);
  expect(attackPatterns).toMatchObject([{ externalId: "T1059", platforms: ["Windows", "Linux"] }]);
  expect(attackPatterns[0]).not.toHaveProperty("parentId");
});

test.each([
  ["blankName", Code.InvalidArgument, "name: this value should not be blank"],
  ["unknownKey", Code.InvalidArgument, "search or sort"],
  ["unknownOperator", Code.InvalidArgument, "without saying which"],
  ["scenarioRefused", Code.PermissionDenied, "own rights"],
  ["tenantDenied", Code.PermissionDenied, "member of that tenant"],
  ["scenarioUnknown", Code.NotFound, "no such object"],
  ["conflict", Code.AlreadyExists, "rules this out"],
  ["wrongState", Code.Internal, "may have been made"],
])("the refusal %s is told in the caller's words", async (name, code, words) => {
  const { status, body } = recorded(name);
  platform.play({ method: "POST", path: "/api/scenarios", status, body });
  const error = await refused(stack.call("observer", ScenarioService.method.createScenario, { name: "x" }));
  expect(error.code).toBe(code);
  expect(error.rawMessage).toContain(words);
  expect(error.rawMessage).not.toMatch(/insert into|Queryable|\/api\/|Element not found/);
});

test("every field searched, sorted and written by is one that the platform takes there", () => {
  const seen = new Set<string>();
  for (const { method, path, body } of platform.asked) {
    const route = `${method} ${path.replace(/[0-9a-f-]{36}/, "{id}")}`;
    seen.add(route);
    const strange = (named: readonly string[], taken: readonly string[] = []) =>
      named.filter((name) => !taken.includes(name)).map((name) => `${route}: ${name}`);
    const searchable = SEARCHES[route];
    if (searchable === undefined) {
      expect(strange(Object.keys(body ?? {}), INPUTS[route])).toEqual([]);
    } else {
      const { filterGroup, sorts } = body as SearchBody;
      expect(
        strange(
          filterGroup.filters.map(({ key }) => key),
          searchable.filters,
        ),
      ).toEqual([]);
      expect(
        strange(
          sorts.map(({ property }) => property),
          searchable.sorts,
        ),
      ).toEqual([]);
    }
  }
  expect([...Object.keys(SEARCHES), ...Object.keys(INPUTS)].filter((route) => !seen.has(route))).toEqual([]);
});

interface SearchBody {
  readonly filterGroup: { readonly filters: readonly { readonly key: string }[] };
  readonly sorts: readonly { readonly property: string }[];
}
