import { Code, ConnectError } from "@connectrpc/connect";
import type { Log } from "../../shared/process/log.js";
import type { Context } from "../context.js";
import type { AgentRecord } from "../kinds/agents/record.js";
import { type AssignmentRecord, limitsOf } from "../kinds/assignments/record.js";
import { nextOf } from "../kinds/assignments/schedule.js";
import { newEtag } from "../objects/gate.js";
import { placeOf } from "../objects/secrets.js";
import { insertRun } from "./begin-run.js";
import { NothingDue } from "./nothing-due.js";
import { ENDED } from "./record.js";

/** Assignments that are looked at in one go. */
const AT_ONCE = 50;

/** Questions of one schedule that wait for an answer. */
const MAX_OPEN = 3;
const UNANSWERED = `nobody answered its question, and ${MAX_OPEN} runs of its schedule were waiting for an answer: answer the newer ones with update_run`;

/** Begins the runs of schedules. */
export interface Schedules {
  close(): Promise<void>;
}

/** Looks at intervals for assignments whose time has come, in every process: each time begins one run in all of them. */
export function startSchedules(context: Context, log: Log, lookMs: number): Schedules {
  let running = Promise.resolve();
  let busy = false;
  const nothingDue = new NothingDue(context.collection<AssignmentRecord>("assignment"), "next_at");
  const look = async (): Promise<void> => {
    busy = true;
    try {
      await beginDue(context, new Date());
      await nothingDue.settle();
    } catch (error) {
      log.warn({ err: error }, "schedules cannot be read");
    } finally {
      busy = false;
    }
  };
  const timer = setInterval(() => {
    if (!busy && !nothingDue.isSo) running = look();
  }, lookMs).unref();
  return {
    async close() {
      clearInterval(timer);
      await running;
    },
  };
}

/**
 * Begins the runs whose time has come. A time that was missed, since nobody
 * looked, begins one run when somebody does; while the run before is at work
 * none begins. One that waits for its user does not stop the schedule.
 */
export async function beginDue(context: Context, now: Date): Promise<void> {
  const assignments = context.collection<AssignmentRecord>("assignment");
  const due = await assignments
    .find({ next_at: { $gt: new Date(0), $lte: now } }, { sort: { next_at: 1 }, limit: AT_ONCE })
    .toArray();
  for (const assignment of due) {
    const standing: Outcome = assignment.enabled ? await standingOf(context, assignment) : {};
    // The run first, under a name that only this time has: who dies in between leaves it to be found.
    const goesOn = assignment.enabled && !("paused" in standing);
    if (goesOn && (await isFree(context, assignment, now))) await beginIfRoom(context, assignment);
    const { _id, next_at, schedule, delegation } = assignment;
    if (standing.paused !== undefined)
      await context.notices.stopped(assignment, next_at?.toISOString() ?? "", standing.paused);
    await assignments.updateOne(
      { _id, next_at, schedule, delegation },
      { $set: { ...standing, next_at: goesOn ? nextOf(assignment, now) : null } },
    );
  }
}

type Outcome = Partial<Pick<AssignmentRecord, "schedule_key" | "paused" | "paused_at" | "enabled" | "etag">>;

/** Whether a schedule may still act for its owner; one that may not is disabled, and says why. */
async function standingOf({ delegations, seal }: Context, { _id, delegation }: AssignmentRecord): Promise<Outcome> {
  try {
    const opened = seal.open(delegation, placeOf({ plural: "assignments" }, _id, "delegation"));
    return { schedule_key: (await delegations.exchange(opened, "")).key };
  } catch (error) {
    const failed = ConnectError.from(error);
    // Nobody can say at the moment: the run asks again before each of its steps.
    if (failed.code !== Code.Unauthenticated) return {};
    return { enabled: false, paused: failed.rawMessage, paused_at: new Date(), etag: newEtag() };
  }
}

/** While its owner has no room for a run, a time begins none: others' schedules go on. */
async function beginIfRoom(context: Context, assignment: AssignmentRecord): Promise<void> {
  try {
    await begin(context, assignment);
  } catch (error) {
    if (ConnectError.from(error).code !== Code.ResourceExhausted) throw error;
  }
}

async function begin(context: Context, assignment: AssignmentRecord): Promise<void> {
  const { _id, owner, agent, input, next_at, delegation } = assignment;
  const found = await context.collection<AgentRecord>("agent").findOne({ _id: agent });
  await insertRun(context, {
    owner,
    agentId: agent,
    agent: found,
    assignment,
    trigger: "schedule",
    input,
    ...limitsOf(assignment),
    request: `schedule:${_id}:${next_at?.toISOString()}`,
    delegation: context.seal.open(delegation, placeOf({ plural: "assignments" }, _id, "delegation")),
  });
}

/**
 * Whether no run of a time before is at work; that of this very time is found by its request. Runs that ask their user
 * wait, but not more than a few: then the oldest of them ends.
 */
async function isFree({ runs, wakeWorker }: Context, { _id, owner, next_at }: AssignmentRecord, now: Date) {
  const last = await runs
    .find(
      { owner, assignment: _id },
      { sort: { _id: -1 }, limit: MAX_OPEN + 1, hint: "assignment", projection: { state: 1, request: 1 } },
    )
    .toArray();
  const before = last.filter(
    ({ state, request }) => !ENDED.has(state) && request !== `schedule:${_id}:${next_at?.toISOString()}`,
  );
  if (before.some(({ state }) => state !== "awaiting_input")) return false;
  const oldest = before[MAX_OPEN - 1];
  if (oldest === undefined) return true;
  const ended = { state: "timed_out" as const, question: "", ended_at: now, due_at: now, etag: newEtag() };
  await runs.updateOne(
    { _id: oldest._id, state: "awaiting_input" },
    { $set: { ...ended, error: { reason: "timeout", message: UNANSWERED } } },
  );
  wakeWorker();
  return true;
}
