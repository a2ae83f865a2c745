import { afterAll, beforeAll, expect, test } from "vitest";
import { AssignmentService } from "#proto/core/v1/assignment_service_pb.js";
import { RunState } from "#proto/core/v1/run_pb.js";
import { openContext } from "../../../../services/core-objects/context.js";
import type { AssignmentRecord } from "../../../../services/core-objects/kinds/assignments/record.js";
import { RunLost } from "../../../../services/core-objects/runs/ending.js";
import { claim, Hold } from "../../../../services/core-objects/runs/queue.js";
import type { NewStep, RunRecord, StepRecord } from "../../../../services/core-objects/runs/record.js";
import { beginDue } from "../../../../services/core-objects/runs/schedules.js";
import { Turns } from "../../../../services/core-objects/runs/turns.js";
import { loadKinds } from "../../../../services/core-objects/service.js";
import { as, type Rig, SEAL, startRig } from "../rig.js";
import { startStage } from "./stage.js";

// Who has a run, and when the time of a schedule has come: several at once.

let rig: Rig;
let context: Awaited<ReturnType<typeof openContext>>;
beforeAll(async () => {
  rig = await startRig();
  context = await openContext(rig.store, await loadKinds(), {
    principals: { of: async () => [], ofNames: async () => ({ ids: [], unknown: [] }), groupsOf: async () => [] },
    delegations: {
      create: async () => ({ delegation: "", key: null }),
      exchange: () => Promise.reject(),
      end: async () => undefined,
    },
    traceUsage: async () => Promise.reject(new Error("no traces")),
    auditUsage: async () => Promise.reject(new Error("no audit")),
    people: { find: async () => undefined },
    audit: async () => [],
    reachChanged: async () => undefined,
    wakeWorker: () => undefined,
    seal: SEAL,
  });
});
afterAll(() => rig.close());

const runs = () => rig.store.collection<RunRecord>("runs");
const STEP: NewStep = {
  kind: "tool",
  name: "core/list_agents",
  state: "running",
  input: "",
  output: "",
  calls: [],
  call: "call_1",
  input_tokens: 0,
  output_tokens: 0,
  started_at: new Date(),
  ended_at: null,
};

async function assignment(schedule = "0 7 * * *", who = "alice"): Promise<string> {
  const request = { name: "Morning", agentId: "builtin.threat-analyst", input: "Look.", schedule };
  return (await rig.dispatch.unary(AssignmentService.method.createAssignment, request, as(who))).assignment!.id;
}
const due = (id: string, next_at: Date) =>
  rig.store.collection<AssignmentRecord>("assignments").updateOne({ _id: id }, { $set: { next_at } });

test("a time that has come begins one run, whoever looks and however often, and then the next time stands", async () => {
  const id = await assignment();
  const [at, now] = [new Date("2026-11-20T07:00:00Z"), new Date("2026-11-22T09:00:00Z")];
  await due(id, at);
  await Promise.all([beginDue(context, now), beginDue(context, now), beginDue(context, now)]);
  await beginDue(context, now);
  const begun = await runs().find({ owner: "alice", assignment: id }).toArray();
  expect(begun).toMatchObject([
    { trigger: "schedule", state: "queued", input: "Look.", request: `schedule:${id}:${at.toISOString()}` },
  ]);
  expect(SEAL.open(begun[0]!.delegation, `runs/${begun[0]!._id}/delegation`)).toMatch(/^alice#\d+$/);
  const after = await rig.store.collection<AssignmentRecord>("assignments").findOne({ _id: id });
  expect(after?.next_at?.toISOString()).toBe("2026-11-23T07:00:00.000Z");
});

test("who dies between the run and the next time leaves no second run; while a run goes on none begins", async () => {
  const id = await assignment();
  const at = new Date("2026-11-22T07:00:00Z");
  const later = new Date(at.getTime() + 60_000);
  await due(id, at);
  await beginDue(context, later);
  await due(id, at);
  await beginDue(context, later);
  const mine = () => runs().find({ owner: "alice", assignment: id }).toArray();
  expect(await mine()).toHaveLength(1);
  await due(id, new Date("2026-11-23T07:00:00Z"));
  await beginDue(context, new Date("2026-11-23T07:00:30Z"));
  expect(await mine()).toHaveLength(1);
  await runs().updateOne({ assignment: id, owner: "alice" }, { $set: { state: "completed", due_at: null } });
  await due(id, new Date("2026-11-24T07:00:00Z"));
  await beginDue(context, new Date("2026-11-24T07:00:30Z"));
  expect(await mine()).toHaveLength(2);
});

test("a run that asks its user does not stop its schedule, and of those that wait the oldest gives way", async () => {
  const id = await assignment();
  for (let day = 10; day < 15; day++) {
    await due(id, new Date(`2026-12-${day}T07:00:00Z`));
    await beginDue(context, new Date(`2026-12-${day}T07:00:30Z`));
    const asks = { state: "awaiting_input" as const, question: "Which?", due_at: null };
    await runs().updateMany({ assignment: id, owner: "alice", state: "queued" }, { $set: asks });
  }
  const all = await runs()
    .find({ owner: "alice", assignment: id }, { sort: { _id: 1 } })
    .toArray();
  expect(all.map(({ state }) => state)).toEqual([
    ...["timed_out", "timed_out"],
    ...["awaiting_input", "awaiting_input", "awaiting_input"],
  ]);
  expect(all[0]).toMatchObject({ question: "", error: { reason: "timeout" } });
  expect(all[0]?.error?.message).toContain("nobody answered its question");
});

test("of many workers that look at once one has a run, and one that lost it changes nothing", async () => {
  await runs().updateMany({ due_at: { $gt: new Date(0) } }, { $set: { due_at: null } });
  const [one] = await runs().find({ owner: "alice" }, { limit: 1 }).toArray();
  const id = "claimed";
  await runs().insertOne({
    ...one!,
    ...{ _id: id, request: id, state: "queued", due_at: new Date(), queue: "alice", fence: 0, stalls: 0 },
  });
  const taken = await Promise.all(Array.from({ length: 20 }, () => claim(context.runs, 60_000)));
  const [first] = taken.filter((run) => run !== null);
  expect(taken.filter((run) => run !== null)).toHaveLength(1);
  const before = new Hold(context, first!);
  await before.begin();
  await before.steps();
  await before.add(STEP);

  await runs().updateOne({ _id: id }, { $set: { due_at: new Date() } });
  const second = (await claim(context.runs, 60_000))!;
  const after = new Hold(context, second);
  await after.begin();
  const [step] = await after.steps();
  await expect(before.renew(60_000, 0)).rejects.toThrow(RunLost);
  await expect(before.write({}, { state: "completed" })).rejects.toThrow(RunLost);
  await after.finish(step!, { state: "completed", output: "by the second" });
  await expect(before.finish(step!, { state: "completed", output: "by the first" })).rejects.toThrow(RunLost);
  await expect(before.add(STEP)).rejects.toThrow(RunLost);
  await after.add(STEP);
  await before.release(0);
  expect(await runs().findOne({ _id: id })).toMatchObject({ state: "running", fence: 2 });
  const kept = await rig.store.collection<StepRecord>("run_steps").find({ run: id }).toArray();
  expect(kept.map(({ number, output }) => [number, output]).sort()).toEqual([
    [1, "by the second"],
    [2, ""],
  ]);
});

test("users take turns, each with what waits longest, and who has enough for now is passed over", async () => {
  const [one] = await runs().find({ owner: "alice" }, { limit: 1 }).toArray();
  await runs().updateMany({ due_at: { $gt: new Date(0) } }, { $set: { due_at: null, queue: null } });
  const waits = (owner: string, n: number): RunRecord => ({
    ...one!,
    ...{ _id: `${owner}-${n}`, request: `turn-${n}`, owner, queue: owner, state: "queued", fence: 0, stalls: 0 },
    due_at: new Date(1_000 * n),
  });
  await runs().insertMany([1, 2, 3, 4].map((n) => waits("alice", n)));
  await runs().insertMany([waits("bob", 8), waits("bob", 9), waits("carl", 7)]);
  const taken: string[] = [];
  const take = async (except: readonly string[] = []): Promise<void> => {
    const run = await claim(context.runs, 60_000, { after: taken.at(-1)?.split("-")[0] ?? "", except });
    taken.push(run?._id ?? "");
  };
  for (let n = 0; n < 5; n++) await take();
  await take(["alice"]);
  await take(["alice"]);
  await take(["bob"]);
  expect(taken).toEqual(["alice-1", "bob-8", "carl-7", "alice-2", "bob-9", "", "", "alice-3"]);
});

test("a turn is several short runs, so that readers of a user's model are not started for each; then others have theirs", async () => {
  const [one] = await runs().find({ owner: "alice" }, { limit: 1 }).toArray();
  await runs().updateMany({ due_at: { $gt: new Date(0) } }, { $set: { due_at: null, queue: null } });
  const owners = ["ann", "ben", "cem"];
  const waiting = owners.flatMap((owner) =>
    Array.from({ length: 10 }, (_, n) => ({
      ...one!,
      ...{ _id: `${owner}-${n}`, request: `short-${n}`, owner, queue: owner, state: "queued" as const },
      ...{ fence: 0, stalls: 0, due_at: new Date(1_000 * n) },
    })),
  );
  await runs().insertMany(waiting);
  const turnsOf = (turnMs: number) => new Turns(context.runs, { atOnce: 2, leaseMs: 60_000, turnRuns: 3, turnMs });
  const taken = async (turns: Turns, working: readonly string[] = []) => (await turns.take(working))?.owner;

  const short = turnsOf(60_000);
  const order: (string | undefined)[] = [];
  // Each ends before the next is taken.
  for (let n = 0; n < 8; n++) order.push(await taken(short));
  expect(order).toEqual(["ann", "ann", "ann", "ben", "ben", "ben", "cem", "cem"]);
  // A user with a run at work has no second one before others.
  expect(await taken(short, ["cem"])).toBe("ann");
  // The turn goes on, and is over when nothing of the user waits.
  expect(await taken(short, ["ann"])).toBe("cem");
  await runs().updateMany({ owner: "ann" }, { $set: { due_at: null, queue: null } });
  expect(await taken(short)).toBe("ben");

  // Long runs: by their end the turn is over.
  const long = turnsOf(-1);
  expect([await taken(long), await taken(long), await taken(long)]).toEqual(["ben", "cem", "ben"]);
});

test("a schedule's run is the owner's, and is worked at like any other", async () => {
  const stage = await startStage();
  try {
    const request = {
      name: "Morning",
      agentId: await stage.agent({ resourceIds: [await stage.integrate()] }),
      input: "Look.",
      schedule: "0 7 * * *",
    };
    const made = await stage.rig.dispatch.unary(AssignmentService.method.createAssignment, request, as("alice"));
    const id = made.assignment!.id;
    await stage.rig.store
      .collection<AssignmentRecord>("assignments")
      .updateOne({ _id: id }, { $set: { next_at: new Date(Date.now() - 1_000) } });
    const found = async (): Promise<RunRecord> => {
      for (;;) {
        const run = await stage.rig.store.collection<RunRecord>("runs").findOne({ owner: "alice", assignment: id });
        if (run !== null) return run;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    };
    expect(await stage.rested((await found())._id)).toMatchObject({ state: RunState.COMPLETED, output: "Done." });
  } finally {
    await stage.close();
  }
});
