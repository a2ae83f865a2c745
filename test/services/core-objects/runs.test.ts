import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { RunErrorReason, RunState } from "#proto/core/v1/run_pb.js";
import { RunService } from "#proto/core/v1/run_service_pb.js";
import { Tier } from "#proto/core/v1/sharing_pb.js";
import type { RunRecord } from "../../../services/core-objects/runs/record.js";
import { refusal } from "./refusal.js";
import { as, type Rig, startRig } from "./rig.js";

// Runs as their tools show them; what a worker makes of them is in test/services/core-objects/runs/.

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
const refused = async (call: Promise<unknown>): Promise<string> => (await refusal(call)).join(" ");
afterAll(() => rig.close());

const { listRuns, getRun, triggerRun, updateRun, listRunSteps } = RunService.method;
const AGENT = "builtin.threat-analyst";
const OTHER = "builtin.exposure-planner";

async function trigger(who = "alice", more: object = {}) {
  for await (const { event } of rig.dispatch.stream(triggerRun, { agentId: AGENT, input: "Look.", ...more }, as(who)))
    if (event.case === "result") return event.value.run!;
  throw new Error("no result");
}
const set = (id: string, changes: Partial<RunRecord>) =>
  rig.store.collection<RunRecord>("runs").updateOne({ _id: id }, { $set: changes });
const update = (runId: string, what: object, who = "alice") =>
  rig.dispatch.unary(updateRun, { runId, ...what }, as(who));

test("a run waits for a worker as whoever triggered it, and a repetition begins no other", async () => {
  const run = await trigger("alice", { requestId: "r-1" });
  expect(run).toMatchObject({ state: RunState.QUEUED, input: "Look.", stepCount: 0, agent: { id: AGENT } });
  expect((await trigger("alice", { requestId: "r-1" })).id).toBe(run.id);
  expect((await trigger("bob", { requestId: "r-1" })).id).not.toBe(run.id);
  const record = await rig.store.collection<RunRecord>("runs").findOne({ _id: run.id });
  expect(record).toMatchObject({ owner: "alice", state: "queued", due_at: expect.any(Date) });
  expect(record?.delegation).not.toContain("alice#");
});

test("nobody else sees it, administrators neither", async () => {
  const { id } = await trigger();
  for (const who of ["bob", "carl", "root"]) {
    const asked = [
      () => rig.dispatch.unary(getRun, { runId: id }, as(who)),
      () => rig.dispatch.unary(listRunSteps, { runId: id }, as(who)),
      () => update(id, { cancel: true }, who),
    ];
    for (const one of asked) await expect(one()).rejects.toMatchObject({ code: Code.NotFound });
    const { runs } = await rig.dispatch.unary(listRuns, { pageSize: 100 }, as(who));
    expect(runs.map((run) => run.id)).not.toContain(id);
  }
});

test("an agent that the caller cannot see, or that is disabled, runs for nobody", async () => {
  const create = (more: object) =>
    rig.dispatch.unary(AgentService.method.createAgent, { name: "Own", ...more }, as("alice"));
  const { agent: own } = await create({});
  const { agent: off } = await create({ enabled: false, sharing: [{ to: "user:bob", tier: Tier.VIEW }] });
  expect(await refused(trigger("bob", { agentId: own!.id }))).toContain("no agent that you can see has the id");
  expect(await refused(trigger("bob", { agentId: off!.id }))).toContain("is disabled");
});

test("lists are of one agent, assignment or state, on pages", async () => {
  const ids: string[] = [];
  for (let n = 0; n < 5; n++) ids.unshift((await trigger("carl", { agentId: n % 2 === 0 ? AGENT : OTHER })).id);
  await update(ids[0]!, { cancel: true }, "carl");
  const seen = async (request: object) => {
    const found: string[] = [];
    let pageToken = "";
    do {
      const page = await rig.dispatch.unary(listRuns, { ...request, pageSize: 2, pageToken }, as("carl"));
      found.push(...page.runs.map(({ id }) => id));
      pageToken = page.nextPageToken ?? "";
    } while (pageToken !== "");
    return found;
  };
  expect(await seen({})).toEqual(ids);
  expect(await seen({ agentId: OTHER })).toEqual([ids[1], ids[3]]);
  expect(await seen({ state: RunState.CANCELLED })).toEqual([ids[0]]);
  expect(await seen({ agentId: AGENT, state: RunState.QUEUED })).toEqual([ids[2], ids[4]]);
  const [row] = (await rig.dispatch.unary(listRuns, { pageSize: 1 }, as("carl"))).runs;
  expect(row).toMatchObject({ etag: "", traceId: "", error: { reason: RunErrorReason.CANCELLED } });
});

test("a run that waits is cancelled at once, one that is worked at by its worker, and one that ended not at all", async () => {
  const { id, etag } = await trigger();
  expect(await refused(update(id, { cancel: true, etag: "another" }))).toContain("changed after you read it");
  expect((await update(id, { cancel: true, etag })).run).toMatchObject({
    state: RunState.CANCELLED,
    error: { reason: RunErrorReason.CANCELLED },
  });
  expect(await refused(update(id, { cancel: true }))).toContain("has already ended: its state is cancelled");
  const other = await trigger();
  await set(other.id, { state: "running" });
  expect((await update(other.id, { cancel: true })).run).toMatchObject({ state: RunState.RUNNING });
  expect(await rig.store.collection<RunRecord>("runs").findOne({ _id: other.id })).toMatchObject({ cancelling: true });
});

test("what a run asks is answered once, and what asks nothing takes no answer", async () => {
  const { id } = await trigger();
  expect(await refused(update(id, { answer: "Yes." }))).toContain("the run has no open question: its state is queued");
  await set(id, { state: "awaiting_input", question: "Which?" });
  expect((await rig.dispatch.unary(getRun, { runId: id }, as("alice"))).run?.question).toBe("Which?");
  const { run } = await update(id, { answer: "This." });
  expect([run?.state, run?.question]).toEqual([RunState.QUEUED, undefined]);
  expect(await refused(update(id, { answer: "That." }))).toContain("has no open question");
  for (const what of [{}, { answer: "a", cancel: true }])
    expect(await refused(update(id, what))).toContain("either answer, approve or cancel");
});

test("a user has so many runs that have not ended, and no more", async () => {
  const [one] = await rig.store.collection<RunRecord>("runs").find({ owner: "alice" }, { limit: 1 }).toArray();
  const many = Array.from({ length: 100 }, (_, n) => ({
    ...one!,
    _id: `many-${n}`,
    request: `many-${n}`,
    owner: "root",
  }));
  await rig.store.collection<RunRecord>("runs").insertMany(many.map((run) => ({ ...run, state: "queued" as const })));
  expect(await refused(trigger("root"))).toContain("you already have 100 unfinished runs");
});
