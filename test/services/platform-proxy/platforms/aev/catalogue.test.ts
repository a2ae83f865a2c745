import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AssetService, EndpointPlatform } from "#proto/aev/v1/asset_service_pb.js";
import { FindingService } from "#proto/aev/v1/finding_service_pb.js";
import { SimulationStatus } from "#proto/aev/v1/simulation_pb.js";
import { SimulationService } from "#proto/aev/v1/simulation_service_pb.js";
import { TechniqueService } from "#proto/aev/v1/technique_service_pb.js";
import { type AevHarness, startAev } from "../../../../support/platforms/aev.js";
import { refusal } from "../../../../support/platforms/refusal.js";

const { listEndpoints } = AssetService.method;
const { listAttackPatterns } = TechniqueService.method;
const { listFindings } = FindingService.method;
const UNKNOWN = "00000000-0000-4000-8000-000000000000";
let stack: AevHarness;

beforeAll(async () => {
  stack = await startAev();
});
afterAll(() => stack.close());

test("endpoints are found by name, system, host name and address", async () => {
  const { endpoints, totalSize } = await stack.call(
    listEndpoints,
    {
      platforms: [EndpointPlatform.WINDOWS],
      pageSize: 100,
    },
    "analyst",
  );
  expect(totalSize).toBeGreaterThan(50);
  expect(endpoints.every(({ platform }) => platform === EndpointPlatform.WINDOWS)).toBe(true);
  const byName = await stack.call(listEndpoints, { query: "WEB-PAR" }, "analyst");
  expect(byName.endpoints.map(({ name }) => name)).toEqual(["web-par-01", "web-par-02", "web-par-03", "web-par-04"]);
  const byHost = await stack.call(listEndpoints, { hostname: "web-par-02.corp.example" }, "analyst");
  expect(byHost.endpoints.map(({ name }) => name)).toEqual(["web-par-02"]);
  const byAddress = await stack.call(listEndpoints, { ip: "10.10.0.3" }, "analyst");
  expect(byAddress.endpoints.map(({ name }) => name)).toEqual(["web-par-03"]);
});

test("endpoints tell whether an agent is at work on them", async () => {
  const { endpoints } = await stack.call(listEndpoints, { pageSize: 100 }, "analyst");
  expect(endpoints.some(({ agents }) => agents.length === 0)).toBe(true);
  const agents = endpoints.flatMap((endpoint) => endpoint.agents);
  expect(new Set(agents.map(({ active }) => active)).size).toBe(2);
  expect(agents[0]).toMatchObject({ executor: "OpenAEV Agent", elevated: true, version: "2.4.0" });
});

test("endpoints and findings need their own rights on the platform", async () => {
  for (const method of [listEndpoints, listFindings] as const) {
    expect(await refusal(stack.call(method as typeof listEndpoints, {}, "observer"))).toMatchObject({
      code: Code.PermissionDenied,
    });
  }
});

test("techniques are found by identifier and by name, by every account", async () => {
  const byId = await stack.call(listAttackPatterns, { query: "T1059.001" }, "nobody");
  expect(byId.attackPatterns).toMatchObject([{ externalId: "T1059.001", name: "PowerShell" }]);
  expect(byId.attackPatterns[0]?.parent?.id).toMatch(/^[0-9a-f-]{36}$/);
  const all = await stack.call(listAttackPatterns, { pageSize: 100 }, "nobody");
  const names = all.attackPatterns.map(({ name }) => name.toLowerCase());
  expect(names).toEqual([...names].sort());
});

test("descriptions of techniques are cut, and given in full where they are asked for", async () => {
  const query = "Domain Account";
  const cut = await stack.call(listAttackPatterns, { query }, "nobody");
  expect(cut.attackPatterns.every(({ description }) => description.length <= 120)).toBe(true);
  const full = await stack.call(listAttackPatterns, { query, withDescriptions: true }, "nobody");
  expect(full.attackPatterns[0]?.description).toMatch(/^Adversaries may use an account.*See T\d+\.099\.$/);
  const many = stack.call(listAttackPatterns, { withDescriptions: true, pageSize: 11 }, "nobody");
  expect((await refusal(many)).rawMessage).toContain("at most 10");
});

test("findings are found by type and by where they come from", async () => {
  const cves = await stack.call(listFindings, { types: ["cve"], pageSize: 100 }, "analyst");
  expect(cves.totalSize).toBeGreaterThan(10);
  expect(cves.findings.every(({ value }) => value.startsWith("CVE-"))).toBe(true);
  const times = cves.findings.map(({ createdAt }) => Number(createdAt?.seconds));
  expect(times).toEqual([...times].sort((a, b) => b - a));

  const endpointId = cves.findings.flatMap(({ endpoints }) => endpoints)[0]?.id ?? "";
  const there = await stack.call(listFindings, { scope: { case: "endpointId", value: endpointId } }, "analyst");
  expect(there.totalSize).toBeGreaterThan(0);
  expect(there.findings.every(({ endpoints }) => endpoints.some(({ id }) => id === endpointId))).toBe(true);

  const { simulations } = await stack.call(
    SimulationService.method.listSimulations,
    {
      statuses: [SimulationStatus.FINISHED],
      pageSize: 100,
    },
    "analyst",
  );
  const counts = await Promise.all(
    simulations.slice(0, 10).map(async ({ id }) => {
      const scope = { case: "simulationId" as const, value: id };
      return (await stack.call(listFindings, { scope }, "analyst")).totalSize;
    }),
  );
  expect(counts.some((count) => count > 0)).toBe(true);
});

test("findings of a simulation that a later one has overtaken are found by naming it, and only so", async () => {
  const { simulations } = await stack.call(
    SimulationService.method.listSimulations,
    {
      statuses: [SimulationStatus.FINISHED],
      pageSize: 100,
    },
    "analyst",
  );
  const idsOf = async (scope: { case: "scenarioId" | "simulationId"; value: string }) =>
    (await stack.call(listFindings, { scope, pageSize: 100 }, "analyst")).findings.map(({ id }) => id);
  let overtaken = 0;
  for (const { id } of simulations) {
    const own = await idsOf({ case: "simulationId", value: id });
    if (own.length === 0) continue;
    const { simulation } = await stack.call(SimulationService.method.getSimulation, { simulationId: id }, "analyst");
    const shown = await idsOf({ case: "scenarioId", value: simulation?.scenario?.id ?? "" });
    if (!own.some((finding) => shown.includes(finding))) overtaken++;
  }
  expect(overtaken).toBeGreaterThan(0);
});

test("findings of an unknown scenario, simulation or endpoint are refused instead of none", async () => {
  for (const place of ["scenarioId", "simulationId", "endpointId"] as const) {
    const attempt = stack.call(listFindings, { scope: { case: place, value: UNKNOWN } }, "analyst");
    expect(await refusal(attempt)).toMatchObject({ code: Code.NotFound });
  }
});

test("findings of another tenant's endpoint are refused as of none", async () => {
  const { endpoints } = await stack.call(listEndpoints, { pageSize: 1 }, "analyst");
  const scope = { case: "endpointId" as const, value: endpoints[0]?.id ?? "" };
  expect(await refusal(stack.call(listFindings, { scope }, "outsider"))).toMatchObject({ code: Code.NotFound });
});

test("a type that is no type of finding is refused", async () => {
  expect(await refusal(stack.call(listFindings, { types: ["CVE"] }, "analyst"))).toMatchObject({
    code: Code.InvalidArgument,
  });
});
