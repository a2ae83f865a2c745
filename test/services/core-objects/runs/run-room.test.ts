import { afterEach, beforeEach, expect, test } from "vitest";
import { Hold } from "../../../../services/core-objects/runs/queue.js";
import type { RunRecord, StepRecord } from "../../../../services/core-objects/runs/record.js";
import { runBytes, stepBytes } from "../../../../services/core-objects/runs/run-bytes.js";
import {
  createRunRoom,
  endOfDay,
  type RunRoom,
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
  await expect(fill()).rejects.toThrow("your runs have room for 2 MiB");
  expect(await parts().runs.findOne({ _id: ended._id })).toBeNull();
  const kept = await parts().steps.find({ run: going.run._id }).toArray();
  expect(await used()).toBe(runBytes(going.run) + kept.reduce((sum, one) => sum + stepBytes(one), 0));
  expect(await used()).toBeLessThanOrEqual(2 * MIB);
  // Others have room of their own, and all together that of the deployment.
  const bobs = hold(await run("bob"));
  const more = async () => {
    for (let n = 0; n < 40; n++) await bobs.add(step(long) as never);
  };
  await expect(more()).rejects.toThrow("this deployment keeps at most 3 MiB");
  expect((await room.of("deployment")).bytes).toBe((await used()) + (await room.of("bob")).bytes);
});

test("what is counted of runs ends with them", async () => {
  const past = new Date(Date.now() - 86_400_000);
  const record = { owner: "carl", runs: 7, bytes: 7_000, expires_at: past };
  await parts().rooms.updateOne({ _id: "carl.past" }, { $set: record }, { upsert: true });
  await run("carl");
  expect(await room.of("carl")).toEqual({ runs: 1, bytes: runBytes({ input: "" }) });
});
