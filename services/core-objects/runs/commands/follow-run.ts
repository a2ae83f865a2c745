import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { FollowRunRequestSchema, FollowRunResponseSchema } from "#proto/core/v1/run_service_pb.js";
import type { Call } from "../../../shared/rpc/call.js";
import type { Context } from "../../context.js";
import { follow } from "../follow.js";
import { ownRun } from "./own-run.js";

/** Gives a run of the caller's as it goes, also one that a schedule or another client began. */
export async function* followRun(
  context: Context,
  { runId, waitSeconds }: MessageShape<typeof FollowRunRequestSchema>,
  call: Call,
): AsyncIterable<MessageInitShape<typeof FollowRunResponseSchema>> {
  yield* follow(context, await ownRun(context, runId, call.caller), waitSeconds, call);
}
