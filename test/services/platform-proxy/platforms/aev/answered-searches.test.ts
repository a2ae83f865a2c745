import { timestampDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AssetService, EndpointPlatform } from "#proto/aev/v1/asset_service_pb.js";
import { FindingService } from "#proto/aev/v1/finding_service_pb.js";
import { InjectService, InjectStatus } from "#proto/aev/v1/inject_service_pb.js";
import { Outcome, TargetKind } from "#proto/aev/v1/result_pb.js";
import { Severity } from "#proto/aev/v1/scenario_pb.js";
import { ScenarioService } from "#proto/aev/v1/scenario_service_pb.js";
import { SimulationStatus } from "#proto/aev/v1/simulation_pb.js";
import { SimulationOrder, SimulationService } from "#proto/aev/v1/simulation_service_pb.js";
import { TechniqueService } from "#proto/aev/v1/technique_service_pb.js";
import { type AevHarness, startAev } from "../../../../support/platforms/aev.js";
import { refusal } from "../../../../support/platforms/refusal.js";
import { type AevAnswering, recorded, startAevAnswering } from "./answering.js";

// The searching tools on the platform's own answers.

const SECOND_TENANT = "2cffad3a-0002-4078-b0e2-ef74274022c3";
const DRILL = "7afcd113-a838-4ade-a5c5-9882ee2deba6";
const PHISHING = "745a61c7-5985-40b2-9e86-3a47439088df";
const RUN = "70ea73cc-948e-4c90-9aca-2ef02992d95a";
const TEAM = { id: "0aae9d2d-3c76-45d5-9ade-2a22942bdabe", name: "Blue team", kind: TargetKind.TEAM };
const BETWEEN = [
  { seconds: 1_700_000_000n, nanos: 0 },
  { seconds: 1_800_000_000n, nanos: 0 },
] as const;

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

test("a member of two tenants names one, and every request goes there", async () => {
  play("scenarios");
  const none = await refusal(stack.call(ScenarioService.method.listScenarios, {}, "planner"));
  expect(none.rawMessage).toContain(`Second tenant (${SECOND_TENANT})`);
  platform.asked.length = 0;
  await stack.call(ScenarioService.method.listScenarios, { tenantId: SECOND_TENANT }, "planner");
  const inside = platform.asked.filter(({ path }) => !path.startsWith("/api/me"));
  expect(inside.map(({ tenant }) => tenant)).toEqual([SECOND_TENANT, SECOND_TENANT]);
});

test("rows of a search for scenarios", async () => {
  play("scenarios");
  const reply = await stack.call(
    ScenarioService.method.listScenarios,
    {
      pageSize: 2,
      severities: [Severity.HIGH],
      categories: ["attack-scenario"],
      updatedAfter: BETWEEN[0],
      updatedBefore: BETWEEN[1],
    },
    "observer",
  );
  expect(reply.totalSize).toBe(2);
  expect(reply.scenarios).toMatchObject([
    { id: PHISHING, name: "Phishing wave", severity: Severity.MEDIUM },
    {
      id: DRILL,
      name: "Ransomware drill",
      severity: Severity.HIGH,
      category: "attack-scenario",
      labels: ["red-team"],
    },
  ]);
  expect(reply.scenarios[1]).not.toHaveProperty("recurrence");
  const labelled = await stack.call(
    ScenarioService.method.listScenarios,
    { query: "drill", labels: ["red-team"] },
    "observer",
  );
  expect(labelled.scenarios).toMatchObject([{ id: DRILL }]);
});

test("rows of a search for simulations, one of them without a start", async () => {
  play("simulations", "scenario", "scenarioByName");
  const reply = await stack.call(
    SimulationService.method.listSimulations,
    {
      statuses: [SimulationStatus.RUNNING, SimulationStatus.CANCELED],
      scenarioId: DRILL,
      startedAfter: BETWEEN[0],
      startedBefore: BETWEEN[1],
      orderBy: SimulationOrder.STARTED,
    },
    "observer",
  );
  const [drill, draft] = reply.simulations;
  expect(draft).toMatchObject({ name: "Tabletop draft", status: SimulationStatus.SCHEDULED });
  expect(draft?.outcomes).toBeUndefined();
  expect(draft?.startedAt).toBeUndefined();
  expect(drill).toMatchObject({
    id: RUN,
    status: SimulationStatus.RUNNING,
    outcomes: { humanResponse: Outcome.UNKNOWN, prevention: Outcome.UNSPECIFIED },
  });
  expect(at(drill?.startedAt)).toBe("2026-11-21T13:13:00.000Z");
});

test("injects of a scenario, whose targets the platform repeats", async () => {
  play("scenario", "scenarioByName", "injectsOfScenario");
  const { injects } = await stack.call(
    InjectService.method.listInjects,
    {
      parent: { case: "scenarioId", value: DRILL },
      query: "a",
    },
    "observer",
  );
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
  const { injects } = await stack.call(
    InjectService.method.listInjects,
    {
      parent: { case: "simulationId", value: RUN },
      withTargets: true,
    },
    "observer",
  );
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
  const { endpoints } = await stack.call(
    AssetService.method.listEndpoints,
    {
      platforms: [EndpointPlatform.MACOS],
      hostname: "agent01",
    },
    "observer",
  );
  expect(endpoints).toMatchObject([
    {
      name: "agent01",
      platform: EndpointPlatform.LINUX,
      agents: [{ executor: "OpenAEV Agent", active: true, elevated: true, version: "2.4.0" }],
    },
    { name: "win01", platform: EndpointPlatform.WINDOWS, arch: "x86_64", agents: [] },
  ]);
  expect(at(endpoints[0]?.agents[0]?.lastSeenAt)).toBe("2026-11-21T13:12:16.943Z");
});

/** The recorded ones. */
const FINDINGS = ["4cd50373-3f39-4554-a755-f58997a9ce3f", "40806b2c-131f-452a-972c-20ac2b4b1b01"];

test("findings without an endpoint, and techniques without a parent", async () => {
  const endpointId = "97b3ef98-5dc8-4f67-9f58-abc655467b24";
  const answers = ["attackPatterns", "scenario", "scenarioByName", "simulation", "simulationByName", "endpoints"];
  for (const [path, scope] of [
    ["search", undefined],
    [`scenarios/${DRILL}/search`, { case: "scenarioId", value: DRILL }],
    [`exercises/${RUN}/search`, { case: "simulationId", value: RUN }],
    [`endpoints/${endpointId}/search`, { case: "endpointId", value: endpointId }],
  ] as const) {
    const reads = FINDINGS.map((id) => ({
      ...recorded("scenario"),
      path: `/api/findings/${id}`,
      answer: { finding_id: id, finding_assets: [] },
    }));
    platform.play(...answers.map(recorded), ...reads, { ...recorded("findings"), path: `/api/findings/${path}` });
    const { findings } = await stack.call(
      FindingService.method.listFindings,
      {
        ...(scope !== undefined && { scope }),
        query: "CVE",
        types: ["cve"],
        createdAfter: BETWEEN[0],
        createdBefore: BETWEEN[1],
      },
      "observer",
    );
    expect(findings[0]).toMatchObject({
      type: "cve",
      value: "CVE-2021-44228",
      endpoints: [],
      assetGroups: [],
      inject: { name: "Atomic list users" },
    });
    expect(at(findings[0]?.createdAt)).toBe("2026-11-21T13:12:20.915Z");
  }
  const request = { query: "T1059" };
  const { attackPatterns } = await stack.call(TechniqueService.method.listAttackPatterns, request, "observer");
  expect(attackPatterns).toMatchObject([{ externalId: "T1059", platforms: ["Windows", "Linux"] }]);
  expect(attackPatterns[0]).not.toHaveProperty("parent");
});
