import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { CustomToolService } from "#proto/core/v1/custom_tool_service_pb.js";
import { RunService } from "#proto/core/v1/run_service_pb.js";
import type { RunRecord, StepRecord } from "../../../../services/core-objects/runs/record.js";
import { as, SEAL_KEYS, startRig } from "../rig.js";
import { results } from "./model-server.js";
import { startStage } from "./stage.js";

// A call that waits for its user's word, and workers that are killed: while it waits, and while it is made.

const folder = await mkdtemp(join(tmpdir(), "word-crash-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

test("a call that waits survives a kill, and one that was allowed is made once, whenever its worker is killed", async () => {
  const stage = await startStage({ folder, runs: undefined as never });
  const written: string[] = [];
  let hangs = true;
  stage.script.reply = (asked) => {
    const run = asked.messages[1]!.content!;
    return results(asked).length === 0 ? { call: "custom__write", args: { run } } : "Done.";
  };
  stage.script.other = (_request, body, response) => {
    written.push((JSON.parse(body) as { run: string }).run);
    if (!hangs) response.end("written");
  };
  const inputSchema = { type: "object", properties: { run: { type: "string" } } };
  const tool = { name: "write", description: "d", method: "post", url: `${stage.model.url}/`, inputSchema };
  const { customTool } = await stage.rig.dispatch.unary(CustomToolService.method.createCustomTool, tool, as("alice"));
  const resourceIds = [await stage.integrate(), customTool!.id];
  const agent = await stage.agent({ resourceIds, askTools: ["custom/write"] });
  const ids = [await stage.trigger(agent, { input: "one" }), await stage.trigger(agent, { input: "two" })].map(
    ({ id }) => id,
  );
  await stage.rig.close();

  await worked(async () => (await states()).every((state) => state === "awaiting_input"));
  expect(written).toEqual([]);
  await approve(ids);
  // Both calls are sent and not answered when the worker is killed.
  await worked(async () => written.length === 2, true);
  hangs = false;
  await worked(async () => (await states()).every((state) => state === "completed"));
  expect(written.sort()).toEqual(["one", "two"]);
  const rig = await startRig({ folder });
  const steps = await rig.store.collection<StepRecord>("run_steps").find({}).toArray();
  const called = steps.filter(({ kind }) => kind === "tool");
  expect(called.map(({ state, approved }) => `${state} ${approved}`)).toEqual(["unknown true", "unknown true"]);
  await rig.close();
  await stage.model.close();
}, 240_000);

/** Workers one after the other, each killed after a while, until it is so; `at` for a question that needs no store. */
async function worked(isSo: () => Promise<boolean>, at = false): Promise<void> {
  for (let n = 0; n < 20; n++) {
    const child = await startWorker();
    const ended = once(child, "exit");
    for (let waited = 0; waited < (at ? 200 : 30) && !(at && (await isSo())); waited++) await sleep(100);
    child.kill("SIGKILL");
    await ended;
    if (await isSo()) return;
  }
  throw new Error("it does not become so");
}

async function states(): Promise<string[]> {
  const rig = await startRig({ folder });
  const runs = await rig.store.collection<RunRecord>("runs").find({}).toArray();
  await rig.close();
  return runs.map(({ state }) => state);
}

async function approve(ids: readonly string[]): Promise<void> {
  const rig = await startRig({ folder });
  for (const runId of ids) {
    const { run } = await rig.dispatch.unary(RunService.method.getRun, { runId }, as("alice"));
    await rig.dispatch.unary(RunService.method.updateRun, { runId, approve: true, etag: run!.etag }, as("alice"));
  }
  await rig.close();
}

async function startWorker(): Promise<ChildProcess> {
  const child = fork(new URL("./crash-process.ts", import.meta.url), [folder], {
    execArgv: ["--import", "tsx", "--conditions=house:source"],
    env: { ...process.env, TEST_SEAL_KEYS: SEAL_KEYS },
  });
  await once(child, "message");
  const ready = once(child, "message");
  child.send("begin");
  await ready;
  return child;
}
