import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ExpectationService, ExpectationStatus, ExpectationType } from "#proto/aev/v1/expectation_service_pb.js";
import { TargetKind } from "#proto/aev/v1/result_pb.js";
import { SimulationStatus } from "#proto/aev/v1/simulation_pb.js";
import { SimulationService } from "#proto/aev/v1/simulation_service_pb.js";
import { type AevHarness, startAev } from "../../../../support/platforms/aev.js";
import { refusal } from "../../../../support/platforms/refusal.js";

const { listExpectations, setExpectationResult, deleteExpectationResult } = ExpectationService.method;
let stack: AevHarness;
let simulationId = "";
let otherId = "";

beforeAll(async () => {
  stack = await startAev();
  const { simulations } = await stack.call(
    SimulationService.method.listSimulations,
    { statuses: [SimulationStatus.FINISHED] },
    "analyst",
  );
  [simulationId = "", otherId = ""] = simulations.map(({ id }) => id);
});
afterAll(() => stack.close());

const all = async () => (await stack.call(listExpectations, { simulationId, pageSize: 100 }, "analyst")).expectations;

test("every expectation comes once through all pages, each with who is to show what", async () => {
  const whole = await all();
  expect(whole.length).toBeGreaterThan(5);
  const seen: string[] = [];
  let pageToken = "";
  do {
    const page = await stack.call(listExpectations, { simulationId, pageSize: 3, pageToken }, "analyst");
    seen.push(...page.expectations.map(({ id }) => id));
    expect(page.totalSize).toBe(whole.length);
    pageToken = page.nextPageToken ?? "";
  } while (pageToken !== "");
  expect(seen).toEqual(whole.map(({ id }) => id));
  expect(new Set(seen).size).toBe(whole.length);
  expect(whole.every(({ target, inject }) => target !== undefined && inject !== undefined)).toBe(true);
  const failed = await stack.call(
    listExpectations,
    { simulationId, statuses: [ExpectationStatus.FAILED], pageSize: 100 },
    "analyst",
  );
  expect(failed.expectations).toEqual(whole.filter(({ status }) => status === ExpectationStatus.FAILED));
  const [one] = whole;
  const own = await stack.call(listExpectations, { simulationId, injectId: one!.inject!.id, pageSize: 100 }, "analyst");
  expect(own.expectations).toEqual(whole.filter(({ inject }) => inject?.id === one!.inject!.id));
});

test("a result is recorded by hand in the caller's name, and taken off again", async () => {
  const manual = (await all()).find(({ type }) => type === ExpectationType.MANUAL)!;
  const args = { simulationId, expectationId: manual.id };
  const { expectation } = await stack.call(setExpectationResult, { ...args, score: 80 }, "analyst");
  expect(expectation).toMatchObject({ status: ExpectationStatus.FAILED, score: 80 });
  expect(expectation?.results).toMatchObject([{ source: { id: "ui", name: "analyst@sallyport.example" }, score: 80 }]);
  const { expectation: met } = await stack.call(setExpectationResult, { ...args, score: 100 }, "analyst");
  expect(met).toMatchObject({ status: ExpectationStatus.SUCCESS, score: 100 });
  const off = await stack.call(deleteExpectationResult, { ...args, sourceId: "ui" }, "analyst");
  expect(off.expectation?.results).toEqual([]);
  const again = await refusal(stack.call(deleteExpectationResult, { ...args, sourceId: "ui" }, "analyst"));
  expect(again.code).toBe(Code.NotFound);
  expect(again.rawMessage).toMatch(/it has no results/);
});

test("what the platform would fail at is refused with the reason", async () => {
  const rows = await all();
  const manual = rows.find(({ type }) => type === ExpectationType.MANUAL)!;
  const of = (expectationId: string) => ({ simulationId, expectationId });
  const recorded = (args: object) => refusal(stack.call(setExpectationResult, { ...args, score: 1 }, "analyst"));
  const elsewhere = await recorded({ ...of(manual.id), simulationId: otherId });
  expect(elsewhere.rawMessage).toMatch(/there is no/);
  const group = rows.find(({ targetKind }) => targetKind === TargetKind.ASSET_GROUP);
  if (group === undefined) return;
  const ofGroup = await recorded(of(group.id));
  expect(ofGroup.rawMessage).toMatch(/derives the result of an asset group from its endpoints/);
});

test("a grant is not enough to record a result, and says so", async () => {
  const [one] = await all();
  const error = await refusal(
    stack.call(setExpectationResult, { simulationId, expectationId: one!.id, score: 1 }, "reader"),
  );
  expect(error.code).toBe(Code.PermissionDenied);
  expect(error.rawMessage).toMatch(/MANAGE_ASSESSMENT/);
  expect(error.rawMessage).not.toMatch(/grant/);
});
