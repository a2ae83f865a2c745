import { randomBytes } from "node:crypto";
import { v7 as uuid } from "uuid";
import type { Call } from "../../shared/rpc/call.js";
import { failedPrecondition, resourceExhausted } from "../../shared/rpc/errors.js";
import { isDuplicateKey } from "../../shared/store/store.js";
import type { Context } from "../context.js";
import type { AgentRecord } from "../kinds/agents/record.js";
import { numberOf } from "../kinds/agents/versions.js";
import type { AssignmentRecord } from "../kinds/assignments/record.js";
import { checkNotBlank } from "../objects/check-given.js";
import { newEtag, readable } from "../objects/gate.js";
import { placeOf } from "../objects/secrets.js";
import { rightsAtFirst } from "./counted-rights.js";
import type { RunRecord } from "./record.js";
import { runBytes } from "./run-bytes.js";
import { endOfDay } from "./run-room.js";
import { nanosOf } from "./spending/cost.js";

/** Runs of one user that have not ended. */
const MAX_UNFINISHED = 100;
/** Steps of a run, and milliseconds at work, where its trigger says nothing. */
const MAX_STEPS = 60;
const TIMEOUT_MS = 30 * 60_000;
/** How many days a run is kept after it was triggered. */
export const KEPT_DAYS = 90;
const DAY_MS = 86_400_000;
/** How long a run may act as the user who triggered it: waiting for a worker, for answers, and working. */
const STANDS_S = 14 * 24 * 3_600;

/** What an agent is to do. */
export interface Work {
  readonly agentId: string;
  readonly input: string;
  /** The assignment that it belongs to. */
  readonly assignment?: Pick<AssignmentRecord, "_id" | "name">;
  readonly requestId: string;
  readonly maxSteps?: number | undefined;
  readonly timeoutSeconds?: number | undefined;
  /** What its requests to models may take; 0 or nothing for any amount. */
  readonly maxTokens?: number | undefined;
  readonly maxCost?: number | undefined;
}

/**
 * Queues a run as the caller. Repeating it with its request_id gives the run
 * that it began.
 *
 * @throws ConnectError not_found for an agent that the caller cannot see, failed_precondition for a disabled one,
 * resource_exhausted where too many of the caller's runs have not ended.
 */
export async function beginRun(context: Context, work: Work, call: Call): Promise<RunRecord> {
  checkNotBlank("input", work.input);
  const { caller } = call;
  const request = work.requestId === "" ? undefined : `${caller.id}:${work.requestId}`;
  const before = request === undefined ? null : await context.runs.findOne({ owner: caller.id, request });
  if (before !== null) return before;
  const agent = await readable(context, "agent", work.agentId, caller);
  if (!agent.enabled) throw failedPrecondition(`the agent ${agent._id} is disabled: enable it with update_agent`);
  await checkRoom(context, caller.id);
  const { delegation } = await context.delegations.create(call, { ttlSeconds: STANDS_S });
  return insertRun(context, {
    ...work,
    owner: caller.id,
    agent: agent as AgentRecord,
    trigger: "manual",
    request,
    delegation,
  });
}

/** A run as it is begun. */
export interface NewRun extends Omit<Work, "requestId"> {
  readonly owner: string;
  /** As it is now: what it is given later is not this run's. null if it is gone. */
  readonly agent: AgentRecord | null;
  readonly trigger: RunRecord["trigger"];
  /** What begins no second run; the run's own id where left out. */
  readonly request: string | undefined;
  /** What stands for the owner at auth. */
  readonly delegation: string;
}

/** Stores a run for a worker to take; or finds the one that the same request began. */
export async function insertRun(context: Context, begun: NewRun): Promise<RunRecord> {
  const _id = uuid();
  const now = new Date();
  const { owner, agentId, agent, assignment, trigger, input, maxSteps, timeoutSeconds, request = _id } = begun;
  const { maxTokens = 0, maxCost = 0 } = begun;
  const run: RunRecord = {
    _id,
    owner,
    request,
    agent: agentId,
    agent_name: agent?.name ?? agentId,
    ...(agent !== null && agent.origin !== "builtin" && { agent_version: numberOf(agent) }),
    assignment: assignment?._id ?? "",
    assignment_name: assignment?.name ?? "",
    trigger,
    input,
    state: "queued",
    question: "",
    answer: null,
    output: "",
    error: null,
    model: "",
    step_count: 0,
    input_tokens: 0,
    output_tokens: 0,
    max_steps: maxSteps ?? MAX_STEPS,
    timeout_ms: timeoutSeconds === undefined ? TIMEOUT_MS : timeoutSeconds * 1_000,
    ...(maxTokens > 0 && { max_tokens: maxTokens }),
    ...(maxCost > 0 && { max_nanos: nanosOf(maxCost) }),
    worked_ms: 0,
    delegation: context.seal.seal(begun.delegation, delegationPlace(_id)),
    trace: randomBytes(16).toString("hex"),
    root_span: randomBytes(8).toString("hex"),
    cancelling: false,
    etag: newEtag(),
    created_at: now,
    started_at: null,
    ended_at: null,
    due_at: now,
    queue: owner,
    fence: 0,
    stalls: 0,
    expires_at: endOfDay(new Date(now.getTime() + KEPT_DAYS * DAY_MS)),
  };
  const rights = agent === null ? undefined : rightsAtFirst(run, agent);
  const bytes = runBytes(run) + (rights?.taken ?? 0);
  const room = { owner, expiresAt: run.expires_at, runs: 1, bytes };
  await context.runRoom.take(room);
  if (rights !== undefined) await context.rights.insertOne(rights);
  try {
    await context.runs.insertOne(run);
  } catch (error) {
    await context.rights.deleteOne({ _id });
    await context.runRoom.take({ ...room, runs: -1, bytes: -bytes });
    const before = isDuplicateKey(error) ? await context.runs.findOne({ owner, request }) : null;
    if (before === null) throw error;
    return before;
  }
  context.wakeWorker();
  return run;
}

/** Where what stands for a run's user is kept. */
export function delegationPlace(run: string): string {
  return placeOf({ plural: "runs" }, run, "delegation");
}

/** @throws ConnectError resource_exhausted. */
export async function checkRoom({ runs }: Context, owner: string): Promise<void> {
  const unfinished = { owner, state: { $in: ["queued", "running", "awaiting_input"] as const } };
  const count = await runs.countDocuments(unfinished as never, { limit: MAX_UNFINISHED });
  if (count < MAX_UNFINISHED) return;
  throw resourceExhausted(
    `you already have ${MAX_UNFINISHED} unfinished runs, the maximum: wait until some have ended, or cancel some with update_run`,
  );
}
