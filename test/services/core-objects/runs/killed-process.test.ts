import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CustomToolService } from "#proto/core/v1/custom_tool_service_pb.js";
import { RunState } from "#proto/core/v1/run_pb.js";
import { as } from "../rig.js";
import { results } from "./model-server.js";
import { startStage } from "./stage.js";

// The process that reads the answers of a model or a tool is killed: by the system, or by an administrator.

let stage: Awaited<ReturnType<typeof startStage>>;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.close());

/** Kills every process that this one's starter started from a module; how many there were. */
function kill(module: string): number {
  let killed = 0;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      if (!readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(module)) continue;
      if (!isOurs(Number(pid))) continue;
      process.kill(Number(pid), "SIGKILL");
      killed++;
    } catch {
      // It ended meanwhile.
    }
  }
  return killed;
}
/** Whether it is a process of this one, or of one of those. */
function isOurs(pid: number): boolean {
  if (pid <= 1) return false;
  const parent = Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  return parent === process.pid || isOurs(parent);
}

test.skipIf(process.platform !== "linux")("a question whose process is killed is asked again", async () => {
  let asked = 0;
  stage.script.reply = async () => {
    if (asked++ === 0) expect(kill("apart/models")).toBe(1);
    return "Done.";
  };
  const agent = await stage.agent({ resourceIds: [await stage.integrate()] });
  const ended = await stage.rested((await stage.trigger(agent)).id);
  expect([ended.state, ended.output, asked]).toEqual([RunState.COMPLETED, "Done.", 2]);
  // Nothing is held against the model.
  const next = await stage.rested((await stage.trigger(agent)).id);
  expect([next.state, asked]).toEqual([RunState.COMPLETED, 3]);
});

test.skipIf(process.platform !== "linux")(
  "a call whose process is killed is not made again: the model hears that it may have taken effect",
  async () => {
    let called = 0;
    stage.script.other = (_request, _body, response) => {
      if (called++ === 0) expect(kill("apart/http")).toBe(1);
      else response.end("recorded");
    };
    stage.script.reply = (one) => (results(one).length < 2 ? { call: "custom__record", args: {} } : "Done.");
    const { customTool } = await stage.rig.dispatch.unary(
      CustomToolService.method.createCustomTool,
      { name: "record", description: "Records.", method: "post", url: `${stage.model.url}/` },
      as("alice"),
    );
    const agent = await stage.agent({ resourceIds: [await stage.integrate(), customTool!.id] });
    const ended = await stage.rested((await stage.trigger(agent)).id);
    expect([ended.state, ended.output]).toEqual([RunState.COMPLETED, "Done."]);
    const calls = (await stage.steps(ended.id)).filter(({ kind }) => kind === "tool");
    expect(calls.map(({ state, output }) => [state, output])).toEqual([
      ["failed", expect.stringContaining("was killed before it answered: the call may or may not have taken effect")],
      ["completed", "recorded"],
    ]);
    expect(called).toBe(2);
  },
);
