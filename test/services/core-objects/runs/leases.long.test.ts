import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { CustomToolService } from "#proto/core/v1/custom_tool_service_pb.js";
import type { RunRecord } from "../../../../services/core-objects/runs/record.js";
import { openMongoStore } from "../../../../services/shared/store/mongo.js";
import type { Store } from "../../../../services/shared/store/store.js";
import { type MongoJavaServer, missing, startMongoJavaServer } from "../../../support/mongo-java-server/server.js";
import { titled } from "../../../support/titled.js";
import { as, SEAL_KEYS } from "../rig.js";
import { results } from "./model-server.js";
import { startStage } from "./stage.js";

// Two processes that execute the runs of one database, and what outlasts the lease by which one of them has a run.

const DATABASE = "leases";
const LEASE_MS = 1_500;
/** A tool that takes ten minutes under a lease of 30 seconds takes 20 leases. */
const LONG_MS = 20 * LEASE_MS;
/** Until the processes of models and tools have started, on a machine that does much else. */
const PATIENCE_MS = 90_000;

describe.skipIf(missing)(titled("a run and the lease of its worker", missing), () => {
  let server: MongoJavaServer;
  let store: Store;
  let stage: Awaited<ReturnType<typeof startStage>>;
  let workers: ChildProcess[];
  let agent: string;
  /** When the tool was called for each run, by the run's input. */
  const called = new Map<string, number>();
  let answer: (run: string, response: { end(text: string): void }) => void;

  beforeAll(async () => {
    if (missing !== undefined) return;
    server = await startMongoJavaServer();
    store = await openMongoStore(server.uri, { database: DATABASE });
    stage = await startStage({ store, runs: undefined as never });
    stage.script.reply = (asked) =>
      results(asked).length === 0 ? { call: "custom__work", args: { run: asked.messages[1]!.content } } : "Done.";
    stage.script.other = (_request, body, response) => {
      const { run } = JSON.parse(body) as { run: string };
      called.set(run, (called.get(run) ?? 0) + 1);
      answer(run, response);
    };
    const tool = {
      ...{ name: "work", description: "Works.", method: "post", url: `${stage.model.url}/`, timeoutSeconds: 120 },
      inputSchema: { type: "object", properties: { run: { type: "string" } } },
    };
    const { customTool } = await stage.rig.dispatch.unary(CustomToolService.method.createCustomTool, tool, as("alice"));
    agent = await stage.agent({ resourceIds: [await stage.integrate(), customTool!.id] });
    workers = [0, 1].map(() =>
      fork(new URL("./shared-store-process.ts", import.meta.url), [server.uri, DATABASE, String(LEASE_MS)], {
        execArgv: ["--import", "tsx", "--conditions=house:source"],
        env: { ...process.env, TEST_SEAL_KEYS: SEAL_KEYS },
      }),
    );
    await Promise.all(workers.map((worker) => once(worker, "message")));
  }, 60_000);
  afterAll(async () => {
    if (missing !== undefined) return;
    const exits = workers.map((worker) => once(worker, "exit"));
    for (const worker of workers) worker.disconnect();
    await Promise.all(exits);
    await stage.close();
    await store.close();
    server.stop();
  });
  beforeEach(() => called.clear());

  const ended = async (runs: number) => {
    const records = store.collection<RunRecord>("runs");
    await vi.waitFor(async () => expect(await records.countDocuments({ due_at: null })).toBe(runs), {
      ...{ timeout: LONG_MS + PATIENCE_MS, interval: 100 },
    });
    return records.find({}, { sort: { _id: 1 } }).toArray();
  };
  const toolSteps = async (run: string) => (await stage.steps(run)).filter(({ kind }) => kind === "tool");

  test(
    "a tool that takes twenty leases is called once, and its run stays with its worker",
    async () => {
      answer = (_run, response) => setTimeout(() => response.end("worked"), LONG_MS);
      const inputs = ["long-1", "long-2", "long-3"];
      for (const input of inputs) await stage.trigger(agent, { input });
      const runs = await ended(3);
      expect(runs.map(({ state, output }) => `${state} ${output}`)).toEqual(Array(3).fill("completed Done."));
      for (const { _id, fence } of runs) {
        expect((await toolSteps(_id)).map(({ state, output }) => [state, output])).toEqual([["completed", "worked"]]);
        // Nobody else ever took it.
        expect(fence).toBe(1);
      }
      expect(called).toEqual(new Map(inputs.map((input) => [input, 1])));
    },
    LONG_MS + 2 * PATIENCE_MS,
  );

  test(
    "a worker that is frozen past its lease and thawed neither repeats a call nor writes over the other one",
    async () => {
      const waiting: (() => void)[] = [];
      answer = (_run, response) => void waiting.push(() => response.end("worked"));
      const inputs = Array.from({ length: 6 }, (_, n) => `frozen-${n}`);
      for (const input of inputs) await stage.trigger(agent, { input });
      await vi.waitFor(() => expect(waiting).toHaveLength(6), { timeout: PATIENCE_MS });
      const [frozen] = workers as [ChildProcess];
      frozen.kill("SIGSTOP");
      await sleep(3 * LEASE_MS);
      // The calls of the frozen one are answered only now, when the other one has its runs.
      for (const go of waiting) go();
      await sleep(LEASE_MS);
      frozen.kill("SIGCONT");
      const runs = (await ended(9)).filter(({ input }) => input.startsWith("frozen"));
      await sleep(2 * LEASE_MS);
      expect(runs.map(({ state, output }) => `${state} ${output}`)).toEqual(Array(6).fill("completed Done."));
      expect(called).toEqual(new Map(inputs.map((input) => [input, 1])));
      const states: string[] = [];
      for (const { _id, step_count } of runs) {
        const steps = await stage.steps(_id);
        expect(steps).toHaveLength(step_count);
        expect(steps.map(({ kind }) => kind)).toEqual(["model", "tool", "model"]);
        states.push(steps[1]!.state);
      }
      // What the frozen one was at is not known to have taken effect; the other one's calls went on.
      expect(states.filter((state) => state === "unknown").length).toBeGreaterThan(0);
      expect(states.filter((state) => state !== "unknown" && state !== "completed")).toEqual([]);
    },
    4 * PATIENCE_MS,
  );
});
