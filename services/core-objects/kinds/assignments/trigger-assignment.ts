import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type {
  TriggerAssignmentRequestSchema,
  TriggerAssignmentResponseSchema,
} from "#proto/core/v1/assignment_service_pb.js";
import type { Call } from "../../../shared/rpc/call.js";
import { failedPrecondition } from "../../../shared/rpc/errors.js";
import type { Context } from "../../context.js";
import { readable } from "../../objects/gate.js";
import { beginRun } from "../../runs/begin-run.js";
import { follow } from "../../runs/follow.js";
import { type AssignmentRecord, limitsOf } from "./record.js";

/** Runs an assignment as the caller, and gives the run as it goes. */
export async function* triggerAssignment(
  context: Context,
  { assignmentId, waitSeconds, requestId, ...instead }: MessageShape<typeof TriggerAssignmentRequestSchema>,
  call: Call,
): AsyncIterable<MessageInitShape<typeof TriggerAssignmentResponseSchema>> {
  const assignment = (await readable(context, "assignment", assignmentId, call.caller)) as AssignmentRecord;
  if (!assignment.enabled)
    throw failedPrecondition(`the assignment ${assignmentId} is disabled: enable it with update_assignment`);
  const { agent: agentId, input } = assignment;
  const work = { agentId, assignment, requestId, ...limitsOf(assignment) };
  const run = await beginRun(context, { ...work, input: instead.input === "" ? input : instead.input }, call);
  yield* follow(context, run, waitSeconds, call);
}
