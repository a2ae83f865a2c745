import { afterAll, beforeAll, expect, test } from "vitest";
import { type Run, RunErrorReason, RunState } from "#proto/core/v1/run_pb.js";
import { readImage } from "../../../../services/shared/tools/image.js";
import { readTools } from "../../../../services/shared/tools/tools.js";
import { BEHAVIOURS, PRICE, SECOND, UNPRICED } from "./behaviours.js";
import { QUICK, startStage } from "./stage.js";

// What becomes of runs when services of models behave in each of these ways: how the run ends, with which sentence,
// after how many requests, and what is counted. All of them run at once, over real sockets.

const NAMES = Object.keys(BEHAVIOURS);
const requests = new Map<string, number>();
const ended = new Map<string, Run>();
let stage: Awaited<ReturnType<typeof startStage>>;

beforeAll(async () => {
  const worker = { ...QUICK, atOnce: 2 * NAMES.length, leaseMs: 15_000 };
  const priced = [...NAMES, SECOND]
    .filter((name) => name !== UNPRICED)
    .map((name) => [name, { price: PRICE }] as const);
  const models = { currency: "EUR", models: new Map(priced) };
  stage = await startStage({ runs: { tools: readTools(readImage()), worker }, models });
  stage.script.reply = (asked) => {
    if (asked.model === SECOND) return BEHAVIOURS["stop with a text"]!.reply(0, asked);
    const n = requests.get(asked.model) ?? 0;
    requests.set(asked.model, n + 1);
    return BEHAVIOURS[asked.model]!.reply(n, asked);
  };
  // An integration has 50 models at most.
  const halves = [NAMES.slice(0, NAMES.length / 2), NAMES.slice(NAMES.length / 2)];
  const integrations = await Promise.all(halves.map((models) => stage.integrate({ models: [...models, SECOND] })));
  const one = async (model: string): Promise<void> => {
    const integration = integrations[halves[0]!.includes(model) ? 0 : 1]!;
    const agent = await stage.agent({
      ...{ model, tools: ["core/list_agents"], resourceIds: [integration] },
      ...BEHAVIOURS[model]!.agent,
    });
    const { timeoutSeconds, trigger } = BEHAVIOURS[model]!;
    const { id } = await stage.trigger(agent, { ...(timeoutSeconds !== undefined && { timeoutSeconds }), ...trigger });
    ended.set(model, await stage.rested(id));
  };
  // The process of the service starts with the first.
  await one(NAMES[0]!);
  for (let from = 1; from < NAMES.length; from += 20) await Promise.all(NAMES.slice(from, from + 20).map(one));
}, 300_000);
afterAll(() => stage.close());

test.each(NAMES)("%s", async (name) => {
  const { state, reason, says, output, tokens, cost, requests: most } = BEHAVIOURS[name]!;
  const run = ended.get(name)!;
  expect([RunState[run.state], run.error && RunErrorReason[run.error.reason]]).toEqual([state, reason]);
  if (says !== undefined) expect(run.error?.message).toMatch(says);
  expect(run.output).toBe(output);
  expect(requests.get(name) ?? 0).toBe(most);
  const hasFallback = "fallbackModel" in (BEHAVIOURS[name]!.agent ?? {}) && state === "COMPLETED";
  if (run.model !== undefined) expect(run.model).toBe(hasFallback ? SECOND : name);
  const counted = [Number(run.inputTokens ?? 0), Number(run.outputTokens ?? 0)];
  if (tokens !== undefined) expect(counted).toEqual(tokens);
  else expect(counted[0]).toBeGreaterThan(100);
  if (cost === null) expect(run.cost).toMatchObject({ priceNotKnown: true });
  else if (cost !== undefined) expect(run.cost).toMatchObject({ amount: cost, currency: "EUR" });
  else if (state === "FAILED" && run.model !== undefined) expect(run.cost?.amount).toBeGreaterThan(0);
  expect(run.cost?.amount === undefined).toBe(cost === null || run.model === undefined);
});
