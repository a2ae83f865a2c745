import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { AssignmentService } from "#proto/core/v1/assignment_service_pb.js";
import { type Run, RunErrorReason, RunState } from "#proto/core/v1/run_pb.js";
import { UsageService } from "#proto/core/v1/usage_service_pb.js";
import { TraceInspectionService } from "#proto/traces/v1/trace_inspection_service_pb.js";
import type { SpendingRecord } from "../../../../../services/core-objects/runs/spending/counters.js";
import { silentLog } from "../../../../../services/shared/process/log.js";
import { createTracesService } from "../../../../../services/traces/service.js";
import { as } from "../../rig.js";
import { startStage } from "../stage.js";

// Each request of the model of these tests takes 1,000 tokens in and 500 out: 0.002 + 0.005 EUR.

const PRICE = { input: 2, output: 10, cached: 1 };
const models = { currency: "EUR", models: new Map([["large", { price: PRICE }]]) };
const dayLimits = { user: { tokens: 20_000, nanos: 0.1e9 }, deployment: { nanos: 0.02e9 } };
const TOOLS = ["core/list_agents"];

let stage: Awaited<ReturnType<typeof startStage>>;
let integration = "";
beforeAll(async () => {
  stage = await startStage({ models, dayLimits });
  const { store, peers } = stage.rig;
  stage.rig.add(await createTracesService({ store, peers, log: silentLog, retentionDays: 30 }));
  integration = await stage.integrate({ models: ["large", "unpriced"] });
});
afterAll(() => stage.close());
beforeEach(async () => {
  await counters().deleteMany({ _id: { $gt: "" } });
  stage.script.reply = () => answer({ content: "Done." });
});

const counters = () => stage.rig.store.collection<SpendingRecord>("run_spending");
const call: typeof stage.rig.dispatch.unary = (...request) => stage.rig.dispatch.unary(...request);
const today = (): string => new Date().toISOString().slice(0, 10);

function answer(message: object) {
  const body = {
    choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", ...message } }],
    usage: { prompt_tokens: 1_000, completion_tokens: 500 },
  };
  return {
    respond(response: import("node:http").ServerResponse) {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(body));
    },
  };
}

/** A model that calls a tool in each of its answers, and so never ends. */
function never() {
  let n = 0;
  stage.script.reply = () =>
    answer({
      content: "I look.",
      tool_calls: [{ id: `c${n++}`, type: "function", function: { name: "core__list_agents", arguments: "{}" } }],
    });
}

function expectBudget(run: Run, words: RegExp): void {
  expect([RunState[run.state], run.error && RunErrorReason[run.error.reason]]).toEqual(["FAILED", "BUDGET"]);
  expect(run.error?.message).toMatch(words);
}

test("a run ends before a request that passes its tokens, says what it took, and keeps what it wrote", async () => {
  never();
  const agent = await stage.agent({ tools: TOOLS, resourceIds: [integration] });
  const { id } = await stage.trigger(agent, { maxTokens: 4_000 });
  const run = await stage.rested(id);
  expectBudget(
    run,
    /^it took 1500 tokens of its 4000, and its next request takes about \d+: .* higher max_tokens with trigger_run$/,
  );
  expect([Number(run.inputTokens), Number(run.outputTokens)]).toEqual([1_000, 500]);
  expect(run.cost).toMatchObject({ amount: 0.007, currency: "EUR" });
  expect(run.output).toBe("I look.");
});

test("a run ends before a request that passes its cost, and at once if the price is not known", async () => {
  never();
  const agent = await stage.agent({ tools: TOOLS, resourceIds: [integration] });
  const { id } = await stage.trigger(agent, { maxCost: 0.02 });
  expectBudget(await stage.rested(id), /^it cost 0\.007 EUR of its 0\.02 EUR, .* higher max_cost with trigger_run$/);
  const other = await stage.agent({ model: "unpriced", resourceIds: [integration] });
  const before = stage.model.asked.length;
  const free = await stage.trigger(other, { maxCost: 0.02 });
  expectBudget(await stage.rested(free.id), /the price of the model unpriced is not known: .* MODELS/);
  expect(stage.model.asked.length).toBe(before);
});

test("an assignment has a budget for each run, and one for all of a day", async () => {
  const agentId = await stage.agent({ tools: TOOLS, resourceIds: [integration] });
  const limits = { maxTokens: 100_000, maxCost: 1, maxTokensPerDay: 4_000, maxCostPerDay: 5 };
  const made = await call(
    AssignmentService.method.createAssignment,
    { name: "Morning", agentId, input: "Look.", ...limits },
    as("alice"),
  );
  expect(made.assignment).toMatchObject(limits);
  const assignmentId = made.assignment!.id;
  const trigger = async (): Promise<Run> => {
    for await (const { event } of stage.rig.dispatch.stream(
      AssignmentService.method.triggerAssignment,
      { assignmentId },
      as("alice"),
    ))
      if (event.case === "result") return stage.rested(event.value.run!.id);
    throw new Error("no result");
  };
  expect(RunState[(await trigger()).state]).toBe("COMPLETED");
  expect(RunState[(await trigger()).state]).toBe("COMPLETED");
  expectBudget(
    await trigger(),
    /^the runs of its assignment took 3000 of 4000 tokens of this day \(UTC\), .* after midnight UTC, or raise max_tokens_per_day with update_assignment$/,
  );
  const update = { assignmentId, maxTokensPerDay: 0, maxTokens: 100 };
  const { assignment } = await call(AssignmentService.method.updateAssignment, update, as("alice"));
  expect(assignment!.maxTokensPerDay).toBeUndefined();
  expectBudget(await trigger(), /^it took 0 tokens of its 100, .* higher max_tokens with update_assignment$/);
});

test("of two runs of one person at the same time, one does not get the last of the day", async () => {
  const agent = await stage.agent({ resourceIds: [integration] });
  const { id } = await stage.trigger(agent);
  await stage.rested(id);
  const _id = `${today()}.user.alice`;
  // What is left is enough for one request, and not for two.
  await counters().updateOne({ _id }, { $set: { tokens: 18_000 } });
  stage.script.reply = async () => {
    await sleep(500);
    return answer({ content: "Done." });
  };
  const both = await Promise.all([stage.trigger(agent), stage.trigger(agent)]);
  const ended = await Promise.all(both.map((run) => stage.rested(run.id)));
  expect(ended.map(({ state }) => RunState[state]).sort()).toEqual(["COMPLETED", "FAILED"]);
  const refused = ended.find(({ state }) => state === RunState.FAILED)!;
  expectBudget(
    refused,
    /^your runs took \d+ of 20000 tokens of this day \(UTC\).* raise MODEL_TOKENS_PER_USER_PER_DAY$/,
  );
  // What was reserved was corrected to what was taken.
  expect(await counters().findOne({ _id })).toMatchObject({ tokens: 19_500 });
});

test("failed requests count nothing that they did not take; usage shows the day", async () => {
  stage.script.reply = () => ({ status: 400 });
  const agent = await stage.agent({ resourceIds: [integration] });
  await stage.rested((await stage.trigger(agent)).id);
  expect(await counters().findOne({ _id: `${today()}.user.alice` })).toMatchObject({ tokens: 0, nanos: 0 });
  stage.script.reply = () => answer({ content: "Done." });
  await stage.rested((await stage.trigger(agent)).id);
  const { usage } = await call(UsageService.method.getUsage, {}, as("alice"));
  expect(usage).toContainEqual(
    expect.objectContaining({ name: "tokens of models today (UTC)", used: 1_500, limit: 20_000, unit: "tokens" }),
  );
  expect(usage).toContainEqual(
    expect.objectContaining({ name: "cost of models today (UTC)", used: 0.007, limit: 0.1, unit: "EUR" }),
  );
});

test("the deployment's budget is of company-managed integrations, whoever's runs they are", async () => {
  const company = await stage.integrate({ companyManaged: true }, "root");
  const theirs = await stage.agent({ resourceIds: [company] }, "bob");
  const own = await stage.agent({ resourceIds: [integration] });
  const run = async (agent: string, who: string): Promise<Run> =>
    stage.rested((await stage.trigger(agent, {}, who)).id, who);
  expect(RunState[(await run(own, "alice")).state]).toBe("COMPLETED");
  expect(RunState[(await run(theirs, "bob")).state]).toBe("COMPLETED");
  await counters().updateOne({ _id: `${today()}.deployment` }, { $set: { nanos: 0.018e9 } });
  expectBudget(
    await run(theirs, "bob"),
    /^all runs of this deployment cost 0\.018 EUR of 0\.02 EUR of this day \(UTC\)/,
  );
  expect(RunState[(await run(own, "alice")).state]).toBe("COMPLETED");
  // What was reserved of bob's own day was given back.
  expect(await counters().findOne({ _id: `${today()}.user.bob` })).toMatchObject({ tokens: 1_500 });
});

test("the trace has the cost of the run and of each request", async () => {
  const payload = async (run: Run, field: string, spanId = ""): Promise<string> => {
    const request = { traceId: run.traceId, spanId, field: `attributes.${field}` };
    return (await call(TraceInspectionService.method.getTracePayload, request, as("alice", "traces"))).text;
  };
  const agent = await stage.agent({ resourceIds: [integration] });
  const run = await stage.rested((await stage.trigger(agent)).id);
  await expect.poll(async () => (await stage.record(run.id))?.due_at).toBeNull();
  const [step] = await stage.steps(run.id);
  expect(await payload(run, "sallyport.cost")).toBe("0.007");
  expect(await payload(run, "sallyport.cost", step!.span)).toBe("0.007");
  expect(await payload(run, "sallyport.cost.currency", step!.span)).toBe("EUR");
});
