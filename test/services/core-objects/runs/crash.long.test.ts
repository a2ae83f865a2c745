import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { CustomToolService } from "#proto/core/v1/custom_tool_service_pb.js";
import type { RunRecord, StepRecord } from "../../../../services/core-objects/runs/record.js";
import type { Base } from "../../../../services/shared/store/store.js";
import { as, SEAL_KEYS, startRig } from "../rig.js";
import { type Asked, type Message, results } from "./model-server.js";
import { startStage } from "./stage.js";

// Runs, and a worker that is killed again and again: each run ends once, and whatever
// the model was ever told of a run is told in the same words from then on. A few here;
// RUNS=100 KILLS=8 for as many as one likes.

const RUNS = Number(process.env.RUNS ?? 24);
const KILLS = Number(process.env.KILLS ?? 2);
const CALLS = 2;

const folder = await mkdtemp(join(tmpdir(), "crash-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

test("runs whose worker is killed again and again end once each, and no step is lost", async () => {
  let next = loadWorker();
  const stage = await startStage({ folder, runs: undefined as never });
  const told = new Map<string, readonly Message[]>();
  const changed: string[] = [];
  const asking = new Set<string>();
  const written = new Map<string, number>();
  stage.script.reply = async (asked) => {
    const run = asked.messages[1]!.content!;
    note(told, changed, run, asked);
    if (asking.has(run)) changed.push(`${run} was asked twice at once`);
    asking.add(run);
    await sleep(Math.random() * 20);
    asking.delete(run);
    const done = results(asked).length;
    return done < CALLS ? { call: "custom__write", args: { key: `${run}-${done}` } } : `${done} written`;
  };
  stage.script.other = (_request, body, response) => {
    const { key } = JSON.parse(body) as { key: string };
    written.set(key, (written.get(key) ?? 0) + 1);
    setTimeout(() => response.end("written"), Math.random() * 20);
  };
  const input_schema = { type: "object", properties: { key: { type: "string" } } };
  const tool = {
    name: "write",
    description: "d",
    method: "post",
    url: `${stage.model.url}/`,
    inputSchema: input_schema,
  };
  const { customTool } = await stage.rig.dispatch.unary(CustomToolService.method.createCustomTool, tool, as("alice"));
  const agent = await stage.agent({ resourceIds: [await stage.integrate(), customTool!.id] });
  for (let n = 0; n < RUNS; n++) await stage.trigger(agent, { input: `run-${n}` });
  await stage.rig.close();

  for (let kill = 0; ; kill++) {
    const child = await next;
    if (kill < KILLS) next = loadWorker();
    const ended = once(child, "exit");
    const ready = once(child, "message");
    child.send("begin");
    await ready;
    // The requests of a process that was killed are nobody's any more.
    asking.clear();
    if (kill >= KILLS) {
      expect(await ended).toEqual([0, null]);
      break;
    }
    await Promise.race([ended, sleep(100 + Math.random() * 400)]);
    child.kill("SIGKILL");
    const [code] = await ended;
    if (code === 0) {
      (await next).kill("SIGKILL");
      break;
    }
  }

  const rig = await startRig({ folder });
  const all = <T extends Base>(name: string): Promise<T[]> => rig.store.collection<T>(name).find({}).toArray();
  const [runs, steps] = [await all<RunRecord>("runs"), await all<StepRecord>("run_steps")];
  expect(changed).toEqual([]);
  expect(runs.map(({ state, output }) => `${state}: ${output}`)).toEqual(
    Array(RUNS).fill(`completed: ${CALLS} written`),
  );
  for (const run of runs) {
    const own = steps.filter((step) => step.run === run._id).sort((a, b) => a.number - b.number);
    expect(own.map(({ number }) => number)).toEqual(Array.from({ length: 2 * CALLS + 1 }, (_, n) => n + 1));
    expect(run).toMatchObject({ step_count: 2 * CALLS + 1, due_at: null, delegation: "" });
    expect(own.filter(({ state }) => state === "running")).toEqual([]);
  }
  expect([...written].filter(([, times]) => times > 1)).toEqual([]);
  const unknown = steps.filter(({ state }) => state === "unknown").length;
  expect(written.size).toBeGreaterThanOrEqual(RUNS * CALLS - unknown);
  await rig.close();
  await stage.model.close();
}, 240_000);

/** What a run's model was told before stands at the beginning of what it is told now. */
function note(told: Map<string, readonly Message[]>, changed: string[], run: string, { messages }: Asked): void {
  const before = told.get(run) ?? [];
  const same = JSON.stringify(messages.slice(0, before.length)) === JSON.stringify(before);
  if (!same) changed.push(`${run} was told otherwise: ${JSON.stringify([before, messages])}`);
  told.set(run, messages);
}

/** A process that has loaded what it takes, while another one works. */
async function loadWorker(): Promise<ChildProcess> {
  const child = fork(new URL("./crash-process.ts", import.meta.url), [folder], {
    execArgv: ["--import", "tsx", "--conditions=house:source"],
    env: { ...process.env, TEST_SEAL_KEYS: SEAL_KEYS },
  });
  await once(child, "message");
  return child;
}
