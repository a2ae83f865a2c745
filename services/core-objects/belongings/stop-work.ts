import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { StopWorkRequestSchema, StopWorkResponseSchema } from "#proto/core/v1/belongings_service_pb.js";
import type { Context } from "../context.js";
import type { AssignmentRecord } from "../kinds/assignments/record.js";
import { newEtag } from "../objects/gate.js";
import type { RunRecord } from "../runs/record.js";

const PAUSED =
  "its owner can no longer sign in. An owner who can sign in again, or a new owner, enables it with update_assignment";
const ENDED = { reason: "credential", message: "it can no longer act as its user: the user was disabled or deleted" };

/**
 * Stops what goes on in the name of a person who can no longer sign in. Auth refuses to stand in for the person from
 * then on, so what begins at this very moment ends at its next step.
 */
export async function stopWork(
  context: Context,
  { userId: owner }: MessageShape<typeof StopWorkRequestSchema>,
): Promise<MessageInitShape<typeof StopWorkResponseSchema>> {
  const { modifiedCount: pausedSchedules } = await context
    .collection<AssignmentRecord>("assignment")
    .updateMany(
      { owner, next_at: { $gt: new Date(0) } },
      { $set: { enabled: false, next_at: null, paused: PAUSED, etag: newEtag(), updated_at: new Date() } },
    );
  const endedRuns = await endRuns(context, owner);
  const counts = await Promise.all(
    context.kinds.map(({ noun }) => context.collection(noun).countDocuments({ owner }, { hint: "request" })),
  );
  return { pausedSchedules, endedRuns, objects: counts.reduce((sum, count) => sum + count, 0) };
}

/** A run that is worked at ends with its worker; what remains to be told of another one a worker tells. */
async function endRuns({ runs, wakeWorker }: Context, owner: string): Promise<number> {
  const error = ENDED as RunRecord["error"];
  const working = await runs.updateMany(
    { owner, state: "running", cancelling: { $ne: true } },
    { $set: { cancelling: true, error, etag: newEtag() } },
  );
  const now = new Date();
  const resting = await runs.updateMany({ owner, state: { $in: ["queued", "awaiting_input"] as const } } as never, {
    $set: { state: "failed", error, question: "", ended_at: now, due_at: now, etag: newEtag() },
  });
  wakeWorker();
  return working.modifiedCount + resting.modifiedCount;
}
