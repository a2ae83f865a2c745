import { timestampDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { AssignmentService } from "#proto/core/v1/assignment_service_pb.js";
import { RunState } from "#proto/core/v1/run_pb.js";
import { RunService } from "#proto/core/v1/run_service_pb.js";
import { Tier } from "#proto/core/v1/sharing_pb.js";
import { openContext } from "../../../services/core-objects/context.js";
import { createDelegations } from "../../../services/core-objects/delegations.js";
import type { AssignmentRecord } from "../../../services/core-objects/kinds/assignments/record.js";
import { nextOf } from "../../../services/core-objects/kinds/assignments/schedule.js";
import type { RunRecord } from "../../../services/core-objects/runs/record.js";
import { beginDue } from "../../../services/core-objects/runs/schedules.js";
import { loadKinds } from "../../../services/core-objects/service.js";
import { refusal } from "./refusal.js";
import { as, type Rig, SEAL, startRig } from "./rig.js";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
const refused = async (call: Promise<unknown>): Promise<string> => (await refusal(call)).join(" ");
afterAll(() => rig.close());

const { createAssignment, updateAssignment, triggerAssignment, getAssignment } = AssignmentService.method;
const AGENT = "builtin.threat-analyst";

async function create(more: object = {}, who = "alice") {
  const request = { name: "Morning", agentId: AGENT, input: "Look.", ...more };
  return (await rig.dispatch.unary(createAssignment, request, as(who))).assignment!;
}
const update = (assignmentId: string, changes: object, who = "alice") =>
  rig.dispatch.unary(updateAssignment, { assignmentId, ...changes }, as(who));
const stored = async (id: string) =>
  (await rig.store.collection<AssignmentRecord>("assignments").findOne({ _id: id }))!;

async function trigger(assignmentId: string, who = "alice", more: object = {}) {
  for await (const { event } of rig.dispatch.stream(triggerAssignment, { assignmentId, ...more }, as(who)))
    if (event.case === "result") return event.value.run!;
  throw new Error("no result");
}

test("an assignment sets steps and time of its runs, and a trigger its input", async () => {
  const { id, maxSteps, timeoutSeconds } = await create({ maxSteps: 7, timeoutSeconds: 90 });
  expect([maxSteps, timeoutSeconds]).toEqual([7, 90]);
  const run = await trigger(id, "alice", { input: "Look elsewhere." });
  expect(run.input).toBe("Look elsewhere.");
  const record = await rig.store.collection<RunRecord>("runs").findOne({ _id: run.id });
  expect([record?.max_steps, record?.timeout_ms]).toEqual([7, 90_000]);
  expect((await update(id, { maxSteps: 9 })).assignment).toMatchObject({ maxSteps: 9, timeoutSeconds: 90 });
  expect((await trigger(id)).input).toBe("Look.");
});

test("a schedule is cron in a time zone, and says when it runs next", async () => {
  const { id, nextRunAt, schedule, timeZone } = await create({ schedule: "30 7 * * *", timeZone: "Asia/Tokyo" });
  expect({ schedule, timeZone }).toEqual({ schedule: "30 7 * * *", timeZone: "Asia/Tokyo" });
  const next = timestampDate(nextRunAt!);
  expect(next.toISOString()).toMatch(/T22:30:00.000Z$/);
  expect(next.getTime() - Date.now()).toBeLessThanOrEqual(86_400_000);
  const off = (await update(id, { enabled: false })).assignment!;
  expect(off.nextRunAt).toBeUndefined();
  expect((await update(id, { enabled: true })).assignment!.nextRunAt).toEqual(nextRunAt);
  const none = (await update(id, { schedule: "" })).assignment!;
  expect([none.schedule, none.timeZone, none.nextRunAt]).toEqual([undefined, undefined, undefined]);
});

test("hours that a change of clocks skips or repeats come once a day", () => {
  const at = (schedule: string, from: string) =>
    nextOf({ schedule, time_zone: "Europe/Paris" }, new Date(from))?.toISOString();
  expect(at("30 2 * * *", "2026-03-28T12:00:00Z")).toBe("2026-03-29T01:00:00.000Z");
  const first = at("30 2 * * *", "2026-10-24T12:00:00Z");
  expect(first).toBe("2026-10-25T00:30:00.000Z");
  expect(at("30 2 * * *", first!)).toBe("2026-10-26T01:30:00.000Z");
});

test.each([
  [{ schedule: "0 7 * *" }, "schedule must be a cron expression of five fields"],
  [{ schedule: "* * * * * *" }, "schedule must be a cron expression of five fields"],
  [{ schedule: "0 0 30 2 *" }, "schedule has no future time"],
  [{ schedule: "0 7 * * *", timeZone: "Mars/Base" }, "time_zone must be a name of the IANA database"],
  [{ agentId: "nobody" }, "no agent that you can see has the id nobody"],
])("what is wrong with %j is said", async (more, said) => {
  expect(await refused(create(more))).toContain(said);
});

test("a schedule runs as its owner: nobody else says what it does, and the company has no owner", async () => {
  const sharing = [{ to: "user:bob", tier: Tier.CONFIG }];
  const { id } = await create({ schedule: "0 7 * * *", sharing });
  for (const changes of [{ input: "Other." }, { agentId: "builtin.exposure-planner" }, { schedule: "0 8 * * *" }])
    expect(await refused(update(id, changes, "bob"))).toContain("a schedule runs as the assignment's owner");
  await update(id, { enabled: false, description: "Paused by Bob." }, "bob");
  expect(await refused(update(id, { enabled: true }, "bob"))).toContain("a schedule runs as the assignment's owner");
  const plain = await create({ sharing });
  await update(plain.id, { input: "Other." }, "bob");
  expect(await refused(update(plain.id, { schedule: "0 8 * * *" }, "bob"))).toContain("runs as the assignment's owner");
  const company = { companyManaged: true, schedule: "0 7 * * *" };
  expect(await refused(create(company, "root"))).toContain("has no owner to run as");
  const managed = await create({ companyManaged: true }, "root");
  expect(await refused(update(managed.id, { schedule: "0 7 * * *" }, "root"))).toContain("has no owner to run as");
});

test("what stands for the owner is sealed, and made anew with the schedule alone", async () => {
  const { id } = await create({ schedule: "0 7 * * *" });
  const { delegation } = await stored(id);
  expect(delegation).not.toContain("alice");
  await update(id, { description: "Other." });
  expect((await stored(id)).delegation).toBe(delegation);
  await update(id, { input: "Other." });
  expect((await stored(id)).delegation).not.toBe(delegation);
});

test("whoever may see it triggers it as themselves, and the run says of what it is", async () => {
  const { id } = await create({ sharing: [{ to: "user:bob", tier: Tier.VIEW }] });
  const run = await trigger(id, "bob", { requestId: "once" });
  expect(run).toMatchObject({ assignment: { id, name: "Morning" }, agent: { id: AGENT }, state: RunState.QUEUED });
  expect((await trigger(id, "bob", { requestId: "once" })).id).toBe(run.id);
  const listed = (who: string) => rig.dispatch.unary(RunService.method.listRuns, { assignmentId: id }, as(who));
  expect((await listed("bob")).runs.map((one) => one.id)).toEqual([run.id]);
  expect((await listed("alice")).runs).toEqual([]);
  expect(await refused(trigger(id, "carl"))).toContain("no assignment that you can see");
  await update(id, { enabled: false });
  expect(await refused(trigger(id))).toContain("is disabled");
});

test("an agent is not deleted while an assignment needs it, and the assignment takes another", async () => {
  const { agent } = await rig.dispatch.unary(AgentService.method.createAgent, { name: "Needed" }, as("alice"));
  const { id } = await create({ agentId: agent!.id });
  const remove = () => rig.dispatch.unary(AgentService.method.deleteAgent, { agentId: agent!.id }, as("alice"));
  expect(await refused(remove())).toContain(`assignments use this agent: Morning (${id})`);
  await update(id, { agentId: AGENT });
  await remove();
  const read = await rig.dispatch.unary(getAssignment, { assignmentId: id }, as("alice"));
  expect(read.assignment).toMatchObject({ agent: { id: AGENT, name: expect.any(String) }, input: "Look." });
});

test("a schedule says which key set it, and pauses with the reason when nobody may act for its owner", async () => {
  const { id } = await create({ schedule: "0 7 * * *" });
  const read = async () => (await rig.dispatch.unary(getAssignment, { assignmentId: id }, as("alice"))).assignment!;
  expect((await read()).scheduleKey).toMatchObject({ id: "alice-key", name: "laptop" });
  const record = await stored(id);
  const at = new Date("2026-11-20T07:00:00Z");
  await rig.store.collection<AssignmentRecord>("assignments").updateOne({ _id: id }, { $set: { next_at: at } });
  const context = await openContext(rig.store, await loadKinds(), {
    ...{ principals: {} as never, seal: SEAL, wakeWorker: () => undefined },
    delegations: createDelegations(rig.peers),
    traceUsage: async () => Promise.reject(new Error("no traces")),
    auditUsage: async () => Promise.reject(new Error("no audit")),
    people: { find: async () => undefined },
    audit: async () => [],
    reachChanged: async () => undefined,
  });
  rig.delegations.refuse("alice", "the API key laptop (alice-key), which set this schedule, was revoked");
  await beginDue(context, new Date("2026-11-20T07:01:00Z"));
  rig.delegations.refuse("alice", undefined);
  const paused = await read();
  expect(paused).toMatchObject({ enabled: false, pausedReason: expect.stringContaining("was revoked") });
  expect([paused.nextRunAt, paused.etag === record.etag]).toEqual([undefined, false]);
  expect((await rig.dispatch.unary(RunService.method.listRuns, { assignmentId: id }, as("alice"))).runs).toEqual([]);
  await update(id, { enabled: true });
  expect(await read()).toMatchObject({ enabled: true, nextRunAt: expect.anything() });
  expect((await read()).pausedReason).toBeUndefined();
});
