import { afterAll, beforeAll, expect, test } from "vitest";
import { type Run, RunErrorReason, RunState } from "#proto/core/v1/run_pb.js";
import { readImage } from "../../../../services/shared/tools/image.js";
import { readTools } from "../../../../services/shared/tools/tools.js";
import { BEHAVIOURS as COMMON } from "./behaviours.js";
import { QUIRKS } from "./quirks.js";
import { type Behaviour, PRICE, SECOND, UNPRICED } from "./replies.js";
import { QUICK, startStage } from "./stage.js";

// What becomes of runs when services of models behave in each of these ways: how the run ends, with which sentence,
// after how many requests, and what is counted. All of them run at once, over real sockets.

const BEHAVIOURS: Readonly<Record<string, Behaviour>> = { ...COMMON, ...QUIRKS };
const NAMES = Object.keys(BEHAVIOURS);
/** Models of an integration, with the second one: it has 50 at most. */
const MODELS = 49;
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
  const integrations: string[] = [];
  for (let from = 0; from < NAMES.length; from += MODELS)
    integrations.push(await stage.integrate({ models: [...NAMES.slice(from, from + MODELS), SECOND] }));
  const one = async (model: string): Promise<void> => {
    const integration = integrations[Math.floor(NAMES.indexOf(model) / MODELS)]!;
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

/** How a run ended, as a row of the table: what is estimated differs with the words of tools. */
function rowOf(name: string): string {
  const { state, error, cost, inputTokens = 0n, outputTokens = 0n } = ended.get(name)!;
  const { tokens, cost: expected } = BEHAVIOURS[name]!;
  const end = error === undefined ? RunState[state] : `${RunState[state]} ${RunErrorReason[error.reason]}`;
  const sentence = (error?.message ?? "").replace(/takes about \d+/, "takes about N").replaceAll("|", "\\|");
  const counted = tokens === undefined ? "estimated" : `${inputTokens} + ${outputTokens}`;
  const money = expected === null ? "not known" : tokens === undefined ? "estimated" : `${cost?.amount ?? 0} EUR`;
  return `| ${[name, end, sentence, requests.get(name) ?? 0, counted, money].join(" | ")} |\n`;
}

test("the table says how each of them ends", async () => {
  const table = [
    `# ${NAMES.length} behaviours of models\n\nWhat becomes of a run; a test writes this page and compares it (behaviours.test.ts).\n\n`,
    "| Behaviour | End | Sentence | Requests | Tokens in + out | Money |\n| --- | --- | --- | --- | --- | --- |\n",
    ...NAMES.map(rowOf),
  ];
  await expect(table.join("")).toMatchFileSnapshot("behaviours.md");
});
