import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { GetRunRequestSchema, GetRunResponseSchema } from "#proto/core/v1/run_service_pb.js";
import type { Call } from "../../../shared/rpc/call.js";
import type { Context } from "../../context.js";
import { runOf } from "../view.js";
import { ownRun } from "./own-run.js";

/** Reads one run in full. */
export async function getRun(
  context: Context,
  { runId }: MessageShape<typeof GetRunRequestSchema>,
  { caller }: Call,
): Promise<MessageInitShape<typeof GetRunResponseSchema>> {
  return { run: runOf(await ownRun(context, runId, caller)) };
}
