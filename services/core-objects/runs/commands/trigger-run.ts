import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { TriggerRunRequestSchema, TriggerRunResponseSchema } from "#proto/core/v1/run_service_pb.js";
import type { Call } from "../../../shared/rpc/call.js";
import type { Context } from "../../context.js";
import { beginRun } from "../begin-run.js";
import { follow } from "../follow.js";

/** Has an agent work as the caller, and gives the run as it goes. */
export async function* triggerRun(
  context: Context,
  { waitSeconds, ...work }: MessageShape<typeof TriggerRunRequestSchema>,
  call: Call,
): AsyncIterable<MessageInitShape<typeof TriggerRunResponseSchema>> {
  yield* follow(context, await beginRun(context, work, call), waitSeconds, call);
}
