import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { AssignmentService } from "#proto/core/v1/assignment_service_pb.js";
import { CustomToolService } from "#proto/core/v1/custom_tool_service_pb.js";
import { Tier } from "#proto/core/v1/sharing_pb.js";
import type { AssignmentRecord } from "../../../../services/core-objects/kinds/assignments/record.js";
import type { RunRecord } from "../../../../services/core-objects/runs/record.js";
import { openMongoStore } from "../../../../services/shared/store/mongo.js";
import { missing, startMongoJavaServer } from "../../../support/mongo-java-server/server.js";
import { titled } from "../../../support/titled.js";
import { as, SEAL_KEYS } from "../rig.js";
import { results } from "./model-server.js";
import { QUICK, startStage } from "./stage.js";

// Two processes that execute the runs of one MongoDB.

const RUNS = 50;
const SCHEDULES = 5;
const DATABASE = "shared-runs";

function startWorker(uri: string): ChildProcess {
  return fork(new URL("./shared-store-process.ts", import.meta.url), [uri, DATABASE], {
    execArgv: ["--import", "tsx", "--conditions=house:source"],
    env: { ...process.env, TEST_SEAL_KEYS: SEAL_KEYS },
  });
}

test.skipIf(missing)(
  titled("two processes on one database execute each run once, and begin each schedule once", missing),
  async () => {
    const server = await startMongoJavaServer();
    const store = await openMongoStore(server.uri, { database: DATABASE });
    const stage = await startStage({ store, runs: undefined as never });
    const asked = new Map<string, number>();
    const written = new Map<string, number>();
    let [now, most] = [0, 0];
    stage.script.reply = async (question) => {
      const turn = `${question.messages[1]!.content} ${results(question).length}`;
      asked.set(turn, (asked.get(turn) ?? 0) + 1);
      most = Math.max(most, ++now);
      // More at once than one process has places for: both are at it.
      while (most <= QUICK.atOnce) await sleep(5);
      now--;
      return results(question).length === 0 ? { call: "custom__write", args: { key: turn } } : "Written.";
    };
    stage.script.other = (_request, body, response) => {
      const { key } = JSON.parse(body) as { key: string };
      written.set(key, (written.get(key) ?? 0) + 1);
      response.end("written");
    };
    const sharing = ["bob", "carl"].map((who) => ({ to: `user:${who}`, tier: Tier.VIEW }));
    const tool = {
      ...{ name: "write", description: "d", method: "post", url: `${stage.model.url}/`, sharing },
      inputSchema: { type: "object", properties: { key: { type: "string" } } },
    };
    const { customTool } = await stage.rig.dispatch.unary(CustomToolService.method.createCustomTool, tool, as("alice"));
    const resourceIds = [await stage.integrate({ sharing }), customTool!.id];
    const agent = await stage.agent({ resourceIds, sharing });
    const people = ["alice", "bob", "carl"];
    for (let n = 0; n < RUNS; n++) await stage.trigger(agent, { input: `run-${n}` }, people[n % people.length]!);
    for (let n = 0; n < SCHEDULES; n++) {
      const request = { name: `Morning ${n}`, agentId: agent, input: `schedule-${n}`, schedule: "0 7 * * *" };
      await stage.rig.dispatch.unary(AssignmentService.method.createAssignment, request, as("alice"));
    }
    const assignments = store.collection<AssignmentRecord>("assignments");
    await assignments.updateMany({ owner: "alice" }, { $set: { next_at: new Date(Date.now() - 1_000) } });

    const workers = [startWorker(server.uri), startWorker(server.uri)];
    try {
      await Promise.all(workers.map((worker) => once(worker, "message")));
      const runs = store.collection<RunRecord>("runs");
      const all = RUNS + SCHEDULES;
      await vi.waitFor(async () => expect(await runs.countDocuments({ due_at: null })).toBe(all), {
        ...{ timeout: 30_000, interval: 50 },
      });
      // Time in which a second one would come.
      await sleep(10 * QUICK.lookMs);
      const ended = await runs.find({}).toArray();
      expect(ended.map(({ state, output, step_count }) => `${state} ${output} ${step_count}`)).toEqual(
        Array(all).fill("completed Written. 3"),
      );
      expect(asked.size).toBe(2 * all);
      expect([...asked, ...written].filter(([, times]) => times > 1)).toEqual([]);
      expect(written.size).toBe(all);
    } finally {
      const exits = workers.map((worker) => once(worker, "exit"));
      for (const worker of workers) worker.disconnect();
      await Promise.all(exits);
      await stage.close();
      await store.close();
      server.stop();
    }
  },
  90_000,
);
