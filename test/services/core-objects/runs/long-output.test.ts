import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { RunState } from "#proto/core/v1/run_pb.js";
import { TraceInspectionService } from "#proto/traces/v1/trace_inspection_service_pb.js";
import { as } from "../rig.js";
import { startTracedStage } from "./stage.js";

let stage: Awaited<ReturnType<typeof startTracedStage>>;
beforeAll(async () => {
  stage = await startTracedStage();
});
afterAll(() => stage.close());

/** The output of a run, as its trace has it. */
async function tracedOutput(traceId: string): Promise<string> {
  const { getTracePayload } = TraceInspectionService.method;
  let text = "";
  for (let page = 1, pages = 1; page <= pages; page++) {
    const request = { traceId, field: "output", page };
    const read = await stage.rig.dispatch.unary(getTracePayload, request, as("alice", "traces"));
    text += read.text;
    pages = read.pageCount;
  }
  return text;
}

test("an output that is too long to show says how long it is, and its trace has all of it", async () => {
  const agent = await stage.agent({ resourceIds: [await stage.integrate()] });
  const long = `${"A sentence of the report. ".repeat(4_000)}THE END`;
  stage.script.reply = () => long;
  const run = await stage.rested((await stage.trigger(agent)).id);
  expect(run).toMatchObject({ state: RunState.COMPLETED, outputCharacters: long.length });
  expect(run.output!.length).toBeLessThan(long.length);
  expect(long.startsWith(run.output!.slice(0, 20_000))).toBe(true);
  expect(run.output).not.toContain("THE END");
  const whole = await vi.waitUntil(() => tracedOutput(run.traceId).catch(() => ""), 10_000);
  const [message] = JSON.parse(whole) as { readonly content: string }[];
  expect(message!.content === long).toBe(true);
});

test("an output that is shown whole says nothing of its length", async () => {
  const agent = await stage.agent({ resourceIds: [await stage.integrate()] });
  stage.script.reply = () => "Short.";
  const run = await stage.rested((await stage.trigger(agent)).id);
  expect([run.output, run.outputCharacters]).toEqual(["Short.", undefined]);
});
