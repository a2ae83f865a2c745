import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { UsageService } from "#proto/core/v1/usage_service_pb.js";
import { runBytes, stepBytes } from "../../../../services/core-objects/runs/run-bytes.js";
import { as } from "../rig.js";
import { startTracedStage } from "./stage.js";

let stage: Awaited<ReturnType<typeof startTracedStage>>;
beforeAll(async () => {
  stage = await startTracedStage();
});
afterAll(() => stage.close());

async function counted(): Promise<number> {
  const { usage } = await stage.rig.dispatch.unary(UsageService.method.getUsage, {}, as("alice"));
  return usage.find(({ name }) => name === "storage of runs")!.used;
}

test("a run counts with its agent's instructions, which are kept with it, until it ends", async () => {
  const instructions = "é".repeat(50_000);
  const agent = await stage.agent({ instructions, resourceIds: [await stage.integrate()] });
  let answer = (): void => undefined;
  const asked = new Promise<void>((resolve) => {
    stage.script.reply = () => {
      resolve();
      return new Promise((told) => {
        answer = () => told("Done.");
      });
    };
  });
  const before = await counted();
  const { id } = await stage.trigger(agent);
  expect((await counted()) - before).toBeGreaterThan(100_000);
  await asked;
  expect((await counted()) - before).toBeGreaterThan(100_000);
  answer();
  await stage.rested(id);
  await vi.waitFor(async () => {
    const steps = await stage.steps(id);
    const left = runBytes((await stage.record(id))!) + steps.reduce((sum, one) => sum + stepBytes(one), 0);
    expect((await counted()) - before).toBe(left);
  });
});
