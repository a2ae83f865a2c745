import { afterAll, beforeAll, expect, test } from "vitest";
import { RunState } from "#proto/core/v1/run_pb.js";
import { RunService } from "#proto/core/v1/run_service_pb.js";
import { as } from "../rig.js";
import { callOf, choice, LIST, says } from "./replies.js";
import { startStage } from "./stage.js";

// Thoughts and signatures go back to the model that gave them, and to nobody else.

const SECRET = "the thoughts of the first";
const SIGNED = { extra_content: { google: { thought_signature: "c2lnbmVk" } } };
let stage: Awaited<ReturnType<typeof startStage>>;
let integration = "";
beforeAll(async () => {
  stage = await startStage();
  integration = await stage.integrate({ models: ["first", "second"] });
});
afterAll(() => stage.close());

test("a fallback model is not told them, and who reads the run is not shown them", async () => {
  const calls = [{ ...callOf("a", LIST), ...SIGNED }];
  let n = 0;
  stage.script.reply = ({ model }) => {
    if (model === "second") return says("Done.");
    if (n++ > 0) return { status: 401 };
    return choice({ content: "", reasoning_content: SECRET, tool_calls: calls }, "tool_calls");
  };
  const agent = await stage.agent({ model: "first", fallbackModel: "second", resourceIds: [integration] });
  const run = await stage.rested((await stage.trigger(agent)).id);
  expect(run).toMatchObject({ state: RunState.COMPLETED, output: "Done.", model: "second" });
  const told = stage.model.asked.map((one) => [one.model, JSON.stringify(one.messages)] as const);
  expect(told.map(([model]) => model)).toEqual(["first", "first", "second"]);
  expect(told.map(([, text]) => text.includes(SECRET))).toEqual([false, true, false]);
  expect(told.map(([, text]) => text.includes("c2lnbmVk"))).toEqual([false, true, false]);
  // They are kept with the steps, and are in no answer.
  const kept = await stage.steps(run.id);
  expect(kept[0]).toMatchObject({ thoughts: SECRET, calls: [{ extra: JSON.stringify(SIGNED.extra_content) }] });
  const { steps } = await stage.rig.dispatch.unary(RunService.method.listRunSteps, { runId: run.id }, as("alice"));
  expect(steps).toHaveLength(kept.length);
  const shown = JSON.stringify([run, steps], (_key, value) => (typeof value === "bigint" ? String(value) : value));
  expect(shown).not.toMatch(/the thoughts|c2lnbmVk/);
});

test("long thoughts and signatures are kept within bounds, and count as what is stored", async () => {
  const { bounded, stepBytes } = await import("../../../../services/core-objects/runs/run-bytes.js");
  const call = { id: "a", name: LIST, arguments: "{}" };
  const step = {
    kind: "model",
    name: "m",
    input: "",
    output: "",
    call: "",
    state: "completed",
    calls: [call],
  } as never;
  const plain = stepBytes(step);
  const more = { ...(step as object), thoughts: "t".repeat(100), calls: [{ ...call, extra: "e".repeat(50) }] } as never;
  expect(stepBytes(more) - plain).toBe(150);
  const huge = {
    ...(step as object),
    thoughts: "t".repeat(1_000_000),
    calls: Array.from({ length: 33 }, () => ({ ...call, extra: "e".repeat(100_000) })),
  } as never;
  const kept = bounded(huge) as { readonly thoughts: string; readonly calls: readonly { readonly extra?: string }[] };
  expect(kept.thoughts.length).toBeLessThanOrEqual(64 * 1024);
  // What is cut is not what was signed.
  expect(kept.calls.every(({ extra }) => extra === undefined)).toBe(true);
});
