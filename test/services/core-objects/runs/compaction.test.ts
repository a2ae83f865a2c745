import { afterAll, beforeAll, expect, test } from "vitest";
import { CustomToolService } from "#proto/core/v1/custom_tool_service_pb.js";
import { RunErrorReason, RunState } from "#proto/core/v1/run_pb.js";
import { as } from "../rig.js";
import type { Asked } from "./model-server.js";
import { startStage } from "./stage.js";

// Runs that are longer than what their models read: each model counts what it is sent, in its own way, and refuses more
// than it reads.

const WINDOW = 8_000;
const models = { currency: "", models: new Map([["known", { window: WINDOW }]]) };
const CALLS = 14;

/** How a model counts, and what it says of too much. */
const MODELS: Readonly<Record<string, { tokens(text: string): number; refusal: string }>> = {
  known: { tokens: (text) => text.length / 3, refusal: "too long" },
  stated: {
    tokens: (text) => text.length / 3,
    refusal: `This model's maximum context length is ${WINDOW} tokens. However, your messages resulted in more.`,
  },
  compared: { tokens: (text) => text.length / 2, refusal: `prompt is too long: 12345 tokens > ${WINDOW} maximum` },
  silent: { tokens: (text) => text.length / 4, refusal: "the context window is exceeded" },
  dense: { tokens: (text) => text.length, refusal: `maximum context length is ${WINDOW} tokens` },
};

let stage: Awaited<ReturnType<typeof startStage>>;
let [integration, tool] = ["", ""];
beforeAll(async () => {
  stage = await startStage({ models });
  integration = await stage.integrate({ models: Object.keys(MODELS) });
  const made = await stage.rig.dispatch.unary(
    CustomToolService.method.createCustomTool,
    {
      ...{ name: "look_up", description: "Looks a host up.", method: "get", url: `${stage.model.url}/hosts/{host}` },
      inputSchema: { type: "object", properties: { host: { type: "string" } }, required: ["host"] },
    },
    as("alice"),
  );
  tool = made.customTool!.id;
});
afterAll(() => stage.close());

/** A model with a window, which looks so many hosts up. */
function reads(calls: number, seen: { answered: number[]; refused: number }): (asked: Asked) => object | string {
  let n = 0;
  return (asked) => {
    const { tokens, refusal } = MODELS[asked.model]!;
    const sent = Math.ceil(tokens(JSON.stringify([asked.messages, asked.tools])));
    if (sent > WINDOW) {
      seen.refused++;
      return { status: 400, error: refusal };
    }
    seen.answered.push(sent);
    const usage = { prompt_tokens: sent, completion_tokens: 20 };
    const call = {
      id: `c${n}`,
      type: "function",
      function: { name: "custom__look_up", arguments: `{"host":"h${n}"}` },
    };
    const message =
      n++ < calls ? { role: "assistant", content: null, tool_calls: [call] } : { role: "assistant", content: "Done." };
    const body = { choices: [{ index: 0, finish_reason: "stop", message }], usage };
    return {
      respond(response: import("node:http").ServerResponse) {
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify(body));
      },
    };
  };
}

test.each([
  ["known", 0],
  ["stated", 2],
  ["compared", 3],
  ["silent", 4],
  ["dense", 6],
])("a run of 70,000 characters ends well on a model with a window of 8,000 tokens: %s", async (model, refusals) => {
  const seen = { answered: [] as number[], refused: 0 };
  stage.script.reply = reads(CALLS, seen) as never;
  stage.script.other = ({ url }, _body, response) => void response.end(`${url} `.repeat(500));
  const agent = await stage.agent({ model, resourceIds: [integration, tool] });
  const { id } = await stage.trigger(agent, { maxSteps: 200 });
  const run = await stage.rested(id);
  expect([run.error?.message, RunState[run.state], run.output]).toEqual([undefined, "COMPLETED", "Done."]);
  expect(seen.refused).toBeLessThanOrEqual(refusals);
  expect(Math.max(...seen.answered)).toBeLessThanOrEqual(WINDOW);
  // Every output is kept whole, and the step says what its model was not told in full.
  const steps = await stage.steps(id);
  const outputs = steps.filter(({ kind }) => kind === "tool").map(({ output }) => output);
  expect(outputs).toHaveLength(CALLS);
  expect(outputs.every((output, n) => output.includes(`/hosts/h${n} `) && output.length > 2_000)).toBe(true);
  expect(steps.at(-1)!.shortened).toBeGreaterThan(0);
  const told = stage.model.asked
    .at(-1)!
    .messages.map(({ content }) => content)
    .join("\n");
  expect(told).toMatch(/left out to save space/);
});

test("one output that is longer than the window is cut, with a note", async () => {
  const seen = { answered: [] as number[], refused: 0 };
  stage.script.reply = reads(1, seen) as never;
  stage.script.other = (_request, _body, response) => void response.end("x".repeat(38_000));
  const agent = await stage.agent({ model: "known", resourceIds: [integration, tool] });
  const run = await stage.rested((await stage.trigger(agent)).id);
  expect([run.error?.message, RunState[run.state]]).toEqual([undefined, "COMPLETED"]);
  expect(seen.refused).toBeLessThanOrEqual(1);
  expect(stage.model.asked.at(-1)!.messages.at(-1)!.content).toMatch(
    /left out to save space: \d+ more characters; call/,
  );
});

test("an agent whose instructions alone are too long says so, and what to do", async () => {
  stage.script.reply = reads(0, { answered: [], refused: 0 }) as never;
  const agent = await stage.agent({ model: "known", instructions: "x".repeat(60_000), resourceIds: [integration] });
  const run = await stage.rested((await stage.trigger(agent)).id);
  expect(run.error?.reason).toBe(RunErrorReason.MODEL_FAILED);
  expect(run.error?.message).toMatch(
    /reads 8000 tokens at a time, and the agent's instructions, tools and task do not fit: shorten/,
  );
});
