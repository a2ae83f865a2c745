import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Hold } from "../../../../services/core-objects/runs/queue.js";
import type { RunRecord, StepRecord } from "../../../../services/core-objects/runs/record.js";
import { recountDay } from "../../../../services/core-objects/runs/recount-day.js";
import { runBytes, stepBytes } from "../../../../services/core-objects/runs/run-bytes.js";
import {
  countRuns,
  createRunRoom,
  endOfDay,
  type RunRoom,
  type RunRoomParts,
  type RunRoomRecord,
} from "../../../../services/core-objects/runs/run-room.js";
import { type Rig, startRig } from "../rig.js";

// What runs and their steps take counts to the user as whom they act.

const MIB = 2 ** 20;
let rig: Rig;
let room: RunRoom;
beforeEach(async () => {
  rig = await startRig();
  room = createRunRoom(parts(), { runs: 2 * MIB, deploymentRuns: 3 * MIB });
});
afterEach(() => rig.close());

const parts = () => ({
  rooms: rig.store.collection<RunRoomRecord>("run_room"),
  runs: rig.store.collection<RunRecord>("runs"),
  steps: rig.store.collection<StepRecord>("run_steps"),
});

let made = 0;
async function run(owner: string, more: Partial<RunRecord> = {}): Promise<RunRecord> {
  const _id = `run-${String(made++).padStart(5, "0")}`;
  const expires_at = endOfDay(new Date(Date.now() + 86_400_000));
  const record = { _id, owner, request: _id, agent: "a", assignment: "", input: "", fence: 1, state: "running" };
  const whole = { ...record, due_at: null, expires_at, ...more } as unknown as RunRecord;
  await room.take({ owner, expiresAt: expires_at, runs: 1, bytes: runBytes(whole) });
  await parts().runs.insertOne(whole);
  return whole;
}

const step = (more: object = {}) => ({
  ...{ kind: "model", name: "m", state: "completed", input: "", output: "", calls: [], call: "" },
  ...{ input_tokens: 0, output_tokens: 0, started_at: new Date(), ended_at: null },
  ...more,
});
const hold = (of: RunRecord) => new Hold({ ...parts(), runRoom: room } as never, of);

test("steps of a model that answers with names of 2 MB take what their bounds allow", async () => {
  const one = hold(await run("alice"));
  const call = { id: "i".repeat(2_000_000), name: "n".repeat(2_000_000), arguments: "{}" };
  for (let n = 0; n < 5; n++) await one.add(step({ calls: [call, { ...call, id: `${call.id}2` }] }) as never);
  const kept = await parts().steps.find({ run: one.run._id }).toArray();
  expect(kept).toHaveLength(5);
  expect(Buffer.byteLength(JSON.stringify(kept))).toBeLessThan(10_000);
  const [first, second] = kept[0]!.calls;
  expect(first!.id).not.toBe(second!.id);
});

test("a user's runs have so much room: the oldest that ended give way, and those that go on do not", async () => {
  const ended = await run("alice", { state: "completed", input: "x".repeat(MIB) });
  const going = hold(await run("alice"));
  const long = { output: "x".repeat(40_000) };
  const used = async () => (await room.of("alice")).bytes;
  const fill = async () => {
    for (let n = 0; n < 100; n++) await going.add(step(long) as never);
  };
  await expect(fill()).rejects.toThrow("your unfinished runs use the 2 MiB");
  expect(await parts().runs.findOne({ _id: ended._id })).toBeNull();
  const kept = await parts().steps.find({ run: going.run._id }).toArray();
  expect(await used()).toBe(runBytes(going.run) + kept.reduce((sum, one) => sum + stepBytes(one), 0));
  expect(await used()).toBeLessThanOrEqual(2 * MIB);
  // Others have room of their own, and all together that of the deployment.
  const bobs = hold(await run("bob"));
  const more = async () => {
    for (let n = 0; n < 40; n++) await bobs.add(step(long) as never);
  };
  await expect(more()).rejects.toThrow("the 3 MiB that this deployment has for runs");
  expect((await room.of("deployment")).bytes).toBe((await used()) + (await room.of("bob")).bytes);
});

test("what is counted of runs ends with them", async () => {
  const past = new Date(Date.now() - 86_400_000);
  const record = { owner: "carl", runs: 7, bytes: 7_000, expires_at: past };
  await parts().rooms.updateOne({ _id: "carl.past" }, { $set: record }, { upsert: true });
  await run("carl");
  expect(await room.of("carl")).toEqual({ runs: 1, bytes: runBytes({ input: "" }) });
});

test("what is given back for somebody who was erased meanwhile makes no record of them again", async () => {
  const { owner, expires_at: expiresAt } = await run("dora");
  const { runs, bytes } = await room.of(owner);
  await parts().rooms.deleteMany({ owner });
  await room.take({ owner, expiresAt, runs: -runs, bytes: -bytes });
  expect(await parts().rooms.countDocuments({ owner })).toBe(0);
  expect(await room.of("deployment")).toEqual({ runs: 0, bytes: 0 });
});

const TWO_MINUTES = 120_000;
const later = () => new Date(Date.now() + TWO_MINUTES);
/** As a process does it, once a minute. */
async function recountAll(): Promise<void> {
  for (let at = Date.now(), none = 0; none < 2; none++) {
    at += TWO_MINUTES;
    if (await recountDay(parts(), new Date(at))) none = 0;
  }
}

test("a count that is wrong is counted again, of its owner and of the deployment, once nobody writes there", async () => {
  const one = hold(await run("alice", { input: "one" }));
  await one.add(step({ output: "x".repeat(500) }) as never);
  const [alices, all] = [await room.of("alice"), await room.of("deployment")];
  expect(all).toEqual(alices);
  const { expires_at: expiresAt } = one.run;
  // As if processes had ended between counting and writing: a run that never came, and a deletion that was counted twice.
  await room.take({ owner: "alice", expiresAt, runs: 1, bytes: 5_000 });
  await room.take({ owner: "bob", expiresAt, runs: -1, bytes: -3_000 });
  await parts().rooms.updateOne({ owner: "deployment" }, { $inc: { bytes: 77 } });
  expect(await recountDay(parts())).toBe(false);
  await recountAll();
  expect(await room.of("alice")).toEqual(alices);
  expect(await room.of("bob")).toEqual({ runs: 0, bytes: 0 });
  expect(await room.of("deployment")).toEqual(all);
  expect(await parts().rooms.countDocuments({ changed_at: { $gt: new Date(0) } })).toBe(0);
});

test("what is written while it is counted again is not lost", async () => {
  await run("alice");
  const { runs, rooms, steps } = parts();
  // A run begins after the runs were read.
  const slow = {
    ...{ rooms, steps },
    runs: {
      find: (...args: Parameters<typeof runs.find>) =>
        (async function* () {
          yield* runs.find(...args);
          await run("alice");
        })(),
    },
  } as unknown as RunRoomParts;
  expect(await recountDay(slow, later())).toBe(true);
  expect((await room.of("alice")).runs).toBe(2);
  await recountAll();
  expect([await room.of("alice"), await room.of("deployment")]).toEqual(
    Array(2).fill({ runs: 2, bytes: 2 * runBytes({ input: "" }) }),
  );
});

test("what a process counted that was killed before it wrote is given back", async () => {
  const folder = await mkdtemp(join(tmpdir(), "runs-"));
  const child = fork(new URL("taking-process.ts", import.meta.url), [folder], {
    execArgv: ["--import", "tsx", "--conditions=house:source"],
  });
  await once(child, "message");
  child.kill("SIGKILL");
  await once(child, "exit");
  await rig.close();
  rig = await startRig({ folder });
  room = createRunRoom(parts(), { runs: 2 * MIB, deploymentRuns: 3 * MIB });
  expect(await room.of("alice")).toEqual({ runs: 1, bytes: 5_000 });
  await recountAll();
  expect([await room.of("alice"), await room.of("deployment")]).toEqual(Array(2).fill({ runs: 0, bytes: 0 }));
  await rm(folder, { recursive: true, force: true });
});

test("runs and steps of a store of before are counted once, and a count of before is counted again", async () => {
  const first = hold(await run("alice", { input: "words" }));
  await first.add(step({ output: "x".repeat(700) }) as never);
  await run("bob");
  const counted = async () => Promise.all(["alice", "bob", "deployment"].map((owner) => room.of(owner)));
  const right = await counted();
  // Nobody counted yet.
  await parts().rooms.deleteMany({ owner: { $gte: "" } });
  expect(await counted()).toEqual(Array(3).fill({ runs: 0, bytes: 0 }));
  await countRuns(parts());
  expect(await counted()).toEqual(right);
  await parts().rooms.updateOne({ owner: "alice" }, { $inc: { bytes: 9 } });
  await countRuns(parts());
  expect((await room.of("alice")).bytes).toBe(right[0]!.bytes + 9);
});
