import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { IntegrationService } from "#proto/core/v1/integration_service_pb.js";
import { type Run, RunErrorReason, RunState } from "#proto/core/v1/run_pb.js";
import { RunService } from "#proto/core/v1/run_service_pb.js";
import { refusal } from "../refusal.js";
import { as } from "../rig.js";
import { startStage } from "./stage.js";

// An agent with a second model: when it is asked, what the run says of it, and what is counted.

const models = {
  currency: "EUR",
  models: new Map([
    ["first", { price: { input: 2, output: 10, cached: 2 } }],
    ["second", { price: { input: 1, output: 1, cached: 1 } }],
  ]),
};
let stage: Awaited<ReturnType<typeof startStage>>;
let [own, other] = ["", ""];
beforeAll(async () => {
  stage = await startStage({ models });
  own = await stage.integrate({ models: ["first", "second"] });
  other = await stage.integrate({ name: "Others", models: ["second"], credential: "sk-of-the-others" });
});
afterAll(() => stage.close());
beforeEach(() => void stage.model.asked.splice(0));

const call: typeof stage.rig.dispatch.unary = (...request) => stage.rig.dispatch.unary(...request);
const asked = (): string[] => stage.model.asked.map(({ model }) => model);

async function run(agent: object, more: object = {}): Promise<Run> {
  const made = await stage.agent({ model: "first", resourceIds: [own], ...agent });
  return stage.rested((await stage.trigger(made, more)).id);
}

test.each([
  ["is down", { status: 500 }, 3],
  ["refuses the credential", { status: 401 }, 1],
  ["is not there", { status: 404 }, 1],
])("if the first %s the second answers, and the run says which", async (_what, reply, requests) => {
  stage.script.reply = ({ model }) => (model === "first" ? reply : "Done.");
  const ended = await run({ fallbackModel: "second" });
  expect(ended).toMatchObject({ state: RunState.COMPLETED, output: "Done.", model: "second" });
  expect(asked()).toEqual([...Array(requests).fill("first"), "second"]);
  // The price of the one that answered.
  expect(ended.cost).toMatchObject({ amount: 0.00011, currency: "EUR" });
  const { runs } = await call(RunService.method.listRuns, { pageSize: 1 }, as("alice"));
  expect(runs[0]).toMatchObject({ id: ended.id, cost: { amount: 0.00011, currency: "EUR" } });
  const steps = await stage.steps(ended.id);
  expect(steps.map(({ name, state, falls_back }) => [name, state, falls_back])).toEqual([
    ["first", "failed", true],
    ["second", "completed", undefined],
  ]);
});

test("one that is too busy for long is not waited for, and a run stays with the second", async () => {
  let calls = 0;
  stage.script.reply = ({ model }) => {
    if (model !== "first") return calls++ === 0 ? { call: "core__list_agents" } : "Done.";
    return {
      respond: (response) => response.writeHead(429, { "retry-after": "600" }).end('{"error":{"message":"slow down"}}'),
    };
  };
  const ended = await run({ fallbackModel: "second", tools: ["core/list_agents"] });
  expect(ended).toMatchObject({ state: RunState.COMPLETED, model: "second" });
  expect(asked()).toEqual(["first", "second", "second"]);
});

test("the second of another integration is asked there, with its credential", async () => {
  stage.script.reply = ({ model }) => (model === "first" ? { status: 403 } : "Done.");
  const ended = await run({ fallbackIntegrationId: other });
  expect(ended).toMatchObject({ state: RunState.COMPLETED, model: "second" });
  expect(stage.model.asked.at(-1)!.authorization).toBe("Bearer sk-of-the-others");
});

test("a task that the first refuses, or a wrong request, is not given to the second", async () => {
  stage.script.reply = () => ({ status: 400, error: "bad tools" });
  const ended = await run({ fallbackModel: "second" });
  expect(ended.error?.reason).toBe(RunErrorReason.MODEL_FAILED);
  expect(asked()).toEqual(["first"]);
});

test("if the second fails too, the run says why that one did not answer", async () => {
  stage.script.reply = () => ({ status: 401 });
  const ended = await run({ fallbackModel: "second" });
  expect(ended.error?.reason).toBe(RunErrorReason.MODEL_FAILED);
  expect(ended.error?.message).toMatch(/^the model second of Models did not answer: it refused the credential/);
  expect(asked()).toEqual(["first", "second"]);
});

test("an agent shows its second model, changes it, and keeps its integration from being deleted", async () => {
  const agentId = await stage.agent({ fallbackModel: "second", fallbackIntegrationId: other });
  const { agent } = await call(AgentService.method.getAgent, { agentId }, as("alice"));
  expect(agent).toMatchObject({ fallbackModel: "second", fallbackIntegration: { id: other, name: "Others" } });
  const copy = await call(AgentService.method.createAgent, { name: "Copy", templateId: agentId }, as("alice"));
  expect(copy.agent).toMatchObject({ fallbackModel: "second", fallbackIntegration: { id: other } });
  const remove = call(IntegrationService.method.deleteIntegration, { integrationId: other }, as("alice"));
  expect((await refusal(remove))[1]).toMatch(/empty fallback_integration_id with update_agent/);
  const unknown = call(AgentService.method.updateAgent, { agentId, fallbackIntegrationId: "nobody" }, as("alice"));
  expect((await refusal(unknown))[1]).toMatch(/no integration that you can see has the id nobody/);
  const empty = { agentId, fallbackModel: "", fallbackIntegrationId: "" };
  const changed = (await call(AgentService.method.updateAgent, empty, as("alice"))).agent!;
  expect([changed.fallbackModel, changed.fallbackIntegration]).toEqual([undefined, undefined]);
});
