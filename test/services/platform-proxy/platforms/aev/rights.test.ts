import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AccountService } from "#proto/aev/v1/account_service_pb.js";
import { AssetService } from "#proto/aev/v1/asset_service_pb.js";
import { FindingService } from "#proto/aev/v1/finding_service_pb.js";
import { ScenarioService } from "#proto/aev/v1/scenario_service_pb.js";
import { SimulationService } from "#proto/aev/v1/simulation_service_pb.js";
import type { Platform } from "../../../../../services/platform-proxy/platform.js";
import { tenantOf } from "../../../../../services/platform-proxy/platforms/aev/tenant.js";
import { DEFAULT_TENANT as FIRST, SECOND_TENANT as SECOND } from "../../../../../services/sandbox/aev/world.js";
import { type AevHarness, startAev } from "../../../../support/platforms/aev.js";
import { refusal } from "../../../../support/platforms/refusal.js";

// What somebody may do, and what is told to whom it is refused.

let stack: AevHarness;

beforeAll(async () => {
  stack = await startAev();
});
afterAll(() => stack.close());

const planned = async (person: string): Promise<string> => {
  const { scenarios } = await stack.call(ScenarioService.method.listScenarios, {}, person);
  return scenarios[0]?.id ?? "";
};

test("who lacks a right is told which, and which grant would do", async () => {
  const scenarioId = await planned("observer");
  const { simulations } = await stack.call(SimulationService.method.listSimulations, {}, "reader");
  const simulationId = simulations[0]!.id;
  const { updateScenario, createScenario } = ScenarioService.method;
  const launch = async () => {
    for await (const _ of stack.stream(ScenarioService.method.launchScenario, { scenarioId }, "observer"));
  };
  const attempts: readonly (readonly [attempt: () => Promise<unknown>, right: string, grant: string])[] = [
    [
      () => stack.call(updateScenario, { scenarioId, description: "x" }, "observer"),
      "MANAGE_ASSESSMENT",
      "PLANNER on this scenario",
    ],
    [launch, "LAUNCH_ASSESSMENT", "LAUNCHER on this scenario"],
    [() => stack.call(createScenario, { name: "x" }, "observer"), "MANAGE_ASSESSMENT", ""],
    [
      () => stack.call(SimulationService.method.getSimulation, { simulationId }, "observer"),
      "ACCESS_ASSESSMENT",
      "OBSERVER on this simulation",
    ],
    [() => stack.call(AssetService.method.listEndpoints, {}, "observer"), "ACCESS_ASSETS", ""],
    [() => stack.call(FindingService.method.listFindings, {}, "observer"), "ACCESS_FINDINGS", ""],
  ];
  for (const [attempt, right, grant] of attempts) {
    const error = await refusal(attempt());
    expect(error.code).toBe(Code.PermissionDenied);
    expect(error.rawMessage).toContain(right);
    expect(error.rawMessage).toContain(grant);
  }
});

test("findings below an object are shown to whom the object is shown", async () => {
  const scope = { case: "scenarioId" as const, value: await planned("observer") };
  await stack.call(FindingService.method.listFindings, { scope }, "observer");
});

test("whoami tells the rights in every tenant, as far as the platform tells them", async () => {
  const { tenants } = await stack.call(AccountService.method.whoami, {}, "planner");
  const [first, second] = tenants;
  expect(first?.capabilities).toContain("MANAGE_ASSESSMENT");
  expect(first?.readsOnly).toBeUndefined();
  expect(second).toMatchObject({ id: SECOND, capabilities: [], readsOnly: true });
  const outsider = await stack.call(AccountService.method.whoami, {}, "outsider");
  const areas = [
    "ASSESSMENT",
    "ASSETS",
    "CHALLENGES",
    "CHANNELS",
    "DOCUMENTS",
    "FINDINGS",
    "LESSONS_LEARNED",
    "PAYLOADS",
  ];
  const capabilities = areas.map((area) => `ACCESS_${area}`);
  expect(outsider.tenants).toMatchObject([{ id: SECOND, capabilities, readsOnly: true }]);
});

test("who was made a member of a tenant just now may name it at once", async () => {
  const tenants = [FIRST, SECOND].map((tenant_id) => ({ tenant_id, tenant_name: tenant_id }));
  const platform = {
    me: async () => ({ tenants: tenants.slice(0, 1) }),
    meAnew: async () => ({ tenants }),
  } as unknown as Platform;
  expect((await tenantOf(platform, SECOND.toUpperCase())).id).toBe(SECOND);
  expect(await refusal(tenantOf(platform, "other"))).toMatchObject({ code: Code.NotFound });
});
