import type { DescMethodStreaming, DescMethodUnary } from "@bufbuild/protobuf";
import { toJsonString } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AccountService } from "#proto/aev/v1/account_service_pb.js";
import { AssetService } from "#proto/aev/v1/asset_service_pb.js";
import { AtomicTestService } from "#proto/aev/v1/atomic_test_service_pb.js";
import { ExpectationService } from "#proto/aev/v1/expectation_service_pb.js";
import { FindingService } from "#proto/aev/v1/finding_service_pb.js";
import { InjectRunService } from "#proto/aev/v1/inject_run_service_pb.js";
import { InjectService } from "#proto/aev/v1/inject_service_pb.js";
import { InjectorContractService } from "#proto/aev/v1/injector_contract_service_pb.js";
import { PayloadService } from "#proto/aev/v1/payload_service_pb.js";
import { TargetKind } from "#proto/aev/v1/result_pb.js";
import { ScenarioPlanService } from "#proto/aev/v1/scenario_plan_service_pb.js";
import { type ScenarioOrder, ScenarioService } from "#proto/aev/v1/scenario_service_pb.js";
import { SimulationStatus } from "#proto/aev/v1/simulation_pb.js";
import { SimulationPlanService } from "#proto/aev/v1/simulation_plan_service_pb.js";
import { type SimulationOrder, SimulationService } from "#proto/aev/v1/simulation_service_pb.js";
import { TechniqueService } from "#proto/aev/v1/technique_service_pb.js";
import { VariableService } from "#proto/aev/v1/variable_service_pb.js";
import { DEFAULT_TENANT, SECOND_TENANT } from "../../../../../services/sandbox/aev/world.js";
import { type AevHarness, startAev } from "../../../../support/platforms/aev.js";

// No call of a person of one tenant returns an object of the other, whatever is
// asked for: every tool, as who holds nearly all rights in one of two.

/** What is of a tenant: ids, and names that the other tenant has not. */
interface Belongings {
  readonly ids: readonly string[];
  readonly names: readonly string[];
}

let stack: AevHarness;
const of: Record<string, Belongings> = {};

const LISTS = [
  ["scenarios", "scenario_id", "scenario_name"],
  ["exercises", "exercise_id", "exercise_name"],
  ["endpoints", "asset_id", "asset_name"],
  ["findings", "finding_id", "finding_value"],
  ["tags", "tag_id", "tag_name"],
  ["asset_groups", "asset_group_id", "asset_group_name"],
  ["teams", "team_id", "team_name"],
  ["payloads", "payload_id", "payload_name"],
  ["atomic-testings", "inject_id", "inject_title"],
] as const;

beforeAll(async () => {
  stack = await startAev();
  const secret = { scenario_name: "Only of the second tenant" };
  await stack.ask("outsider", "POST", `/api/tenants/${SECOND_TENANT}/scenarios`, secret);
  for (const tenant of [DEFAULT_TENANT, SECOND_TENANT]) {
    const ids: string[] = [];
    const names = new Set<string>();
    for (const [path, id, name] of LISTS) {
      const url = `/api/tenants/${tenant}/${path}/search`;
      const { body } = await stack.ask("admin", "POST", url, { size: 1000 });
      for (const row of (body as { content?: Record<string, string>[] }).content ?? []) {
        ids.push(row[id]!);
        names.add(row[name]!);
      }
    }
    for (const plan of ids.slice(0, 3)) {
      const url = `/api/tenants/${tenant}/scenarios/${plan}/injects/simple`;
      const { body } = await stack.ask("admin", "POST", url, {});
      for (const row of (body as { content: Record<string, string>[] }).content) ids.push(row.inject_id!);
    }
    of[tenant] = { ids, names: [...names] };
  }
});
afterAll(() => stack.close());

const { listScenarios, getScenario, createScenario, updateScenario, launchScenario, deleteScenario } =
  ScenarioService.method;
const { listSimulations, getSimulation, getSimulationResults, setSimulationStatus } = SimulationService.method;

const inject = InjectService.method;
const run = InjectRunService.method;
const expectation = ExpectationService.method;
const payload = PayloadService.method;
const plan = SimulationPlanService.method;
const scenario = ScenarioPlanService.method;
const atomic = AtomicTestService.method;
const MAIL = "138ad8f8-32f8-4a22-8114-aaa12322bd09";

type Args = Readonly<Record<string, unknown>>;

/** Every tool with arguments made of what may be given: ids and names of both tenants among it. */
const TOOLS: readonly (readonly [
  DescMethodUnary | DescMethodStreaming,
  (id: string, text: string, n: number) => Args,
])[] = [
  [AccountService.method.whoami, () => ({})],
  [listScenarios, (_, query, n) => ({ query, orderBy: (n % 3) as ScenarioOrder, pageSize: 1 + (n % 100) })],
  [listScenarios, (id, text, n) => ({ labels: [n % 2 === 0 ? id : text] })],
  [getScenario, (scenarioId) => ({ scenarioId })],
  [createScenario, (id, text, n) => ({ name: `New ${n}`, labels: [n % 2 === 0 ? id : text] })],
  [updateScenario, (scenarioId, text) => ({ scenarioId, labels: [text] })],
  [updateScenario, (scenarioId) => ({ scenarioId, description: "changed by another tenant" })],
  [launchScenario, (scenarioId) => ({ scenarioId })],
  [deleteScenario, (scenarioId) => ({ scenarioId })],
  [listSimulations, (_, query, n) => ({ query, orderBy: (n % 4) as SimulationOrder, pageSize: 1 + (n % 100) })],
  [listSimulations, (scenarioId) => ({ scenarioId })],
  [getSimulation, (simulationId) => ({ simulationId })],
  [getSimulationResults, (simulationId) => ({ simulationId })],
  [setSimulationStatus, (simulationId) => ({ simulationId, status: SimulationStatus.CANCELED })],
  [InjectService.method.listInjects, (value) => ({ parent: { case: "scenarioId", value } })],
  [InjectService.method.listInjects, (value) => ({ parent: { case: "simulationId", value }, withTargets: true })],
  [inject.getInject, (injectId) => ({ injectId })],
  [
    inject.createInject,
    (value) => ({ parent: { case: "scenarioId", value }, title: "Of another tenant", injectorContractId: MAIL }),
  ],
  [inject.updateInject, (injectId, title) => ({ injectId, title })],
  [inject.setInjectEnabled, (injectId) => ({ injectId })],
  [inject.duplicateInject, (injectId) => ({ injectId })],
  [inject.deleteInject, (injectId) => ({ injectId })],
  [run.getInjectStatus, (injectId) => ({ injectId })],
  [run.getInjectExecutionResult, (id) => ({ injectId: id, targetId: id, targetKind: TargetKind.ENDPOINT })],
  [run.getInjectExecutionTraces, (id) => ({ injectId: id, targetId: id, targetKind: TargetKind.ENDPOINT })],
  [run.listInjectTargets, (injectId, query) => ({ injectId, query, targetKind: TargetKind.ENDPOINT })],
  [run.launchInject, (injectId) => ({ injectId })],
  [expectation.listExpectations, (simulationId) => ({ simulationId })],
  [expectation.setExpectationResult, (id) => ({ simulationId: id, expectationId: id, score: 100 })],
  [expectation.deleteExpectationResult, (id) => ({ simulationId: id, expectationId: id, sourceId: "ui" })],
  [payload.listPayloads, (_, query) => ({ query })],
  [payload.getPayload, (payloadId) => ({ payloadId })],
  [payload.updatePayload, (payloadId, name) => ({ payloadId, name })],
  [payload.deletePayload, (payloadId) => ({ payloadId })],
  [plan.updateSimulation, (simulationId, name) => ({ simulationId, name })],
  [plan.setSimulationStartDate, (simulationId) => ({ simulationId })],
  [plan.resetSimulation, (simulationId) => ({ simulationId })],
  [plan.deleteSimulation, (simulationId) => ({ simulationId })],
  [plan.getSimulationResultsByAttackPattern, (simulationId) => ({ simulationId })],
  [scenario.duplicateScenario, (scenarioId) => ({ scenarioId })],
  [scenario.scheduleScenario, (scenarioId) => ({ scenarioId, recurrence: "0 0 9 * * MON" })],
  [scenario.setScenarioTeams, (scenarioId) => ({ scenarioId, clearTeams: true })],
  [scenario.checkScenarioHealth, (scenarioId) => ({ scenarioId })],
  [scenario.getScenarioStatistics, (scenarioId) => ({ scenarioId })],
  [VariableService.method.listVariables, (value) => ({ parent: { case: "scenarioId", value } })],
  [VariableService.method.setVariable, (value) => ({ parent: { case: "scenarioId", value }, key: "of_another" })],
  [atomic.listAtomicTests, (_, query) => ({ query })],
  [atomic.getAtomicTest, (atomicTestId) => ({ atomicTestId })],
  [atomic.updateAtomicTest, (atomicTestId, title) => ({ atomicTestId, title })],
  [atomic.launchAtomicTest, (atomicTestId) => ({ atomicTestId })],
  [atomic.relaunchAtomicTest, (atomicTestId) => ({ atomicTestId })],
  [atomic.deleteAtomicTest, (atomicTestId) => ({ atomicTestId })],
  [InjectorContractService.method.listInjectorContracts, (_, query) => ({ query })],
  [InjectorContractService.method.getInjectorContract, (injectorContractId) => ({ injectorContractId })],
  [AssetService.method.listEndpoints, (_, query) => ({ query })],
  [AssetService.method.listEndpoints, (id, text, n) => ({ labels: [n % 2 === 0 ? id : text] })],
  [FindingService.method.listFindings, (value) => ({ scope: { case: "scenarioId", value } })],
  [FindingService.method.listFindings, (value) => ({ scope: { case: "simulationId", value } })],
  [FindingService.method.listFindings, (value) => ({ scope: { case: "endpointId", value } })],
  [FindingService.method.listFindings, (_, query) => ({ query })],
  [TechniqueService.method.listAttackPatterns, (_, query) => ({ query })],
];

/** What a call came to, as text: its answers, or its refusal. */
async function said(tool: DescMethodUnary | DescMethodStreaming, args: Args, person: string): Promise<string> {
  try {
    if (tool.methodKind === "unary") {
      return toJsonString(tool.output, (await stack.call(tool, args as never, person)) as never);
    }
    // The first answer names what is launched; what follows is of the same.
    for await (const one of stack.stream(tool as never, args as never, person)) {
      return toJsonString(tool.output, one as never);
    }
    return "";
  } catch (error) {
    return (error as ConnectError).rawMessage;
  }
}

test("no call of a member of one tenant tells or changes anything of the other", { timeout: 60_000 }, async () => {
  const standing = async () =>
    JSON.stringify(
      await stack.ask("admin", "POST", `/api/tenants/${SECOND_TENANT}/scenarios/search`, {
        size: 1000,
        sorts: [{ property: "scenario_name" }, { property: "scenario_updated_at" }],
      }),
    );
  const before = await standing();
  const there = of[SECOND_TENANT]!;
  const here = of[DEFAULT_TENANT]!;
  const foreign = new Set(there.ids.filter((id) => !here.ids.includes(id)));
  const foreignNames = there.names.filter((name) => name.length > 8 && !here.names.some((own) => own.includes(name)));
  expect(foreign.size).toBeGreaterThan(50);
  expect(foreignNames).toContain("Only of the second tenant");
  const ids = fc.constantFrom(...foreign, ...here.ids.slice(0, 20));
  const texts = fc.constantFrom(...foreignNames, ...there.names, "a", "e");
  const tenants = fc.constantFrom(undefined, undefined, DEFAULT_TENANT, SECOND_TENANT);
  await fc.assert(
    fc.asyncProperty(fc.nat(TOOLS.length - 1), ids, texts, fc.nat(99), tenants, async (at, id, text, n, tenantId) => {
      const [tool, argsOf] = TOOLS[at]!;
      const args = { ...argsOf(id, text, n), ...(tenantId !== undefined && { tenantId }) };
      // What stands in the arguments may be said back.
      const answer = (await said(tool, args, "analyst")).replaceAll(id, "-").replaceAll(text, "-");
      expect([...foreign].filter((one) => answer.includes(one))).toEqual([]);
      expect(foreignNames.filter((one) => answer.includes(one))).toEqual([]);
    }),
    { numRuns: 600 },
  );
  expect(await standing()).toBe(before);
});
