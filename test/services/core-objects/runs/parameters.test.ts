import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { type Run, RunErrorReason, RunState } from "#proto/core/v1/run_pb.js";
import { refusal } from "../refusal.js";
import { as } from "../rig.js";
import type { Reply } from "./model-server.js";
import { startStage } from "./stage.js";

// Settings of a model: as the agent has them, as the model is asked, and what a refusal of one says.

const ALL = { temperature: 0, topP: 0.5, maxOutputTokens: 300, reasoningEffort: "low", stop: ["END"] };

let stage: Awaited<ReturnType<typeof startStage>>;
let integration = "";
beforeAll(async () => {
  stage = await startStage();
  integration = await stage.integrate({ models: ["large", "newer", "picky"] });
});
afterAll(() => stage.close());
beforeEach(() => void stage.model.asked.splice(0));

const call: typeof stage.rig.dispatch.unary = (...request) => stage.rig.dispatch.unary(...request);

async function run(model: string, parameters: object): Promise<Run> {
  const agent = await stage.agent({ model, parameters, resourceIds: [integration] });
  return stage.rested((await stage.trigger(agent)).id);
}

function refuses(message: string, param?: string, status = 400): Reply {
  return {
    respond: (response) =>
      response.writeHead(status).end(JSON.stringify({ error: { message, param, type: "invalid" } })),
  };
}

test("a model is asked with all of them, and an agent without any asks without", async () => {
  stage.script.reply = () => "Done.";
  expect((await run("large", ALL)).state).toBe(RunState.COMPLETED);
  await run("large", {});
  const [all, none] = stage.model.asked as unknown as Record<string, unknown>[];
  const sent = { temperature: 0, top_p: 0.5, max_tokens: 300, reasoning_effort: "low", stop: ["END"] };
  expect(all).toMatchObject(sent);
  for (const name of Object.keys(sent)) expect(none).not.toHaveProperty(name);
});

test("a model that has a newer name for the length is asked by that, and the next time at once", async () => {
  const words =
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
  stage.script.reply = (asked) => ("max_tokens" in asked ? refuses(words, "max_tokens") : "Done.");
  expect((await run("newer", { maxOutputTokens: 300 })).state).toBe(RunState.COMPLETED);
  expect((await run("newer", { maxOutputTokens: 300 })).state).toBe(RunState.COMPLETED);
  expect(stage.model.asked).toHaveLength(3);
  expect(stage.model.asked[2]).toMatchObject({ max_completion_tokens: 300 });
});

test.each([
  ["temperature", refuses("Unsupported value: 'temperature' does not support 0 with this model.", "temperature")],
  ["top_p", refuses("top_p: Extra inputs are not permitted", undefined, 422)],
  ["max_output_tokens", refuses("max_tokens is too large: 300", "max_tokens")],
  ["reasoning_effort", refuses("Unrecognized request argument supplied: reasoning_effort")],
  ["stop", refuses("'stop' is not supported with this model")],
])("a model that refuses %s: the run names it", async (name, reply) => {
  stage.script.reply = () => reply;
  const { error } = await run("picky", ALL);
  expect(error?.reason).toBe(RunErrorReason.MODEL_FAILED);
  expect(error?.message).toMatch(
    new RegExp(
      `it refused ${name} \\(HTTP .*\\): change or omit ${name} in the parameters of the agent with update_agent$`,
    ),
  );
  expect(stage.model.asked).toHaveLength(1);
});

test("what was not sent is not named", async () => {
  stage.script.reply = () => refuses("temperature is a word of the task, and the stop of it");
  expect((await run("picky", { topP: 0.5, stop: ["END"] })).error?.message).not.toMatch(/update_agent/);
});

test("an agent shows them; new ones replace all of them, and others are refused", async () => {
  const agentId = await stage.agent({ parameters: ALL });
  const copy = await call(AgentService.method.createAgent, { name: "Copy", templateId: agentId }, as("alice"));
  expect(copy.agent!.parameters).toMatchObject(ALL);
  const update = (parameters: object) =>
    call(AgentService.method.updateAgent, { agentId, parameters }, as("alice")).then(({ agent }) => agent!.parameters);
  const changed = await update({ temperature: 1 });
  expect([changed!.temperature, changed!.topP, changed!.stop]).toEqual([1, undefined, []]);
  const { agent } = await call(AgentService.method.updateAgent, { agentId, name: "Same" }, as("alice"));
  expect(agent!.parameters).toMatchObject({ temperature: 1 });
  expect(await update({})).toBeUndefined();
  for (const wrong of [
    { temperature: 3 },
    { topP: 0 },
    { maxOutputTokens: 0 },
    { reasoningEffort: "much" },
    { stop: [""] },
  ])
    expect((await refusal(update(wrong)))[1]).toMatch(/parameters\./);
});
