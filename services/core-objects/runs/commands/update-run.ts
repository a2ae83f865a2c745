import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { UpdateRunRequestSchema, UpdateRunResponseSchema } from "#proto/core/v1/run_service_pb.js";
import type { Call } from "../../../shared/rpc/call.js";
import { aborted, failedPrecondition, invalidArgument } from "../../../shared/rpc/errors.js";
import type { Context } from "../../context.js";
import { ATTEMPTS, contended, newEtag } from "../../objects/gate.js";
import { CANCELLED } from "../ending.js";
import { ENDED, type RunRecord } from "../record.js";
import { runOf } from "../view.js";
import { checkedWord, type Word } from "../word.js";
import { ownRun } from "./own-run.js";

/** Answers what a run of the caller's asks, or ends it. A worker that is at it stops at once in this process, and within half a second in others. */
export async function updateRun(
  context: Context,
  { runId, etag, answer, approve, cancel }: MessageShape<typeof UpdateRunRequestSchema>,
  { caller }: Call,
): Promise<MessageInitShape<typeof UpdateRunResponseSchema>> {
  if (cancel === (answer !== "" || approve !== undefined))
    throw invalidArgument("give either answer, approve or cancel; answer and approve may go together");
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const run = await ownRun(context, runId, caller);
    if (etag !== "" && run.etag !== etag)
      throw aborted(
        `this run changed after you read it: its etag is now ${run.etag}. Read it again, then repeat the call`,
      );
    const changes = { ...(cancel ? cancelled(run) : answered(run, { answer, approve, etag })), etag: newEtag() };
    const next = await context.runs.findOneAndUpdate(
      { _id: run._id, etag: run.etag },
      { $set: changes },
      { returnDocument: "after" },
    );
    if (next === null) continue;
    context.wakeWorker();
    return { run: runOf(next) };
  }
  throw contended("run");
}

/** A run that is being worked at ends with its worker; what remains to be told of another a worker tells. */
function cancelled(run: RunRecord): Partial<RunRecord> {
  if (ENDED.has(run.state)) throw failedPrecondition(`the run has already ended: its state is ${run.state}`);
  if (run.state === "running") return { cancelling: true };
  const now = new Date();
  const error = { reason: "cancelled" as const, message: CANCELLED };
  return { state: "cancelled", error, question: "", ended_at: now, due_at: now };
}

function answered(run: RunRecord, word: Word): Partial<RunRecord> {
  if (run.state !== "awaiting_input")
    throw failedPrecondition(
      `the run has no open question: its state is ${run.state}. Only a run in the state awaiting_input takes an answer`,
    );
  return { ...checkedWord(run, word), state: "queued", question: "", due_at: new Date() };
}
