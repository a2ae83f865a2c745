import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { ListRunStepsRequestSchema, ListRunStepsResponseSchema } from "#proto/core/v1/run_service_pb.js";
import type { Call } from "../../../shared/rpc/call.js";
import { pageTokenOf, positionOf } from "../../../shared/rpc/page-token.js";
import { listPage } from "../../../shared/store/page.js";
import type { Context } from "../../context.js";
import { stepOf } from "../view.js";
import { ownRun } from "./own-run.js";

const PAGE_SIZE = 20;

/** Lists the steps of a run of the caller's, the first one first. */
export async function listRunSteps(
  context: Context,
  request: MessageShape<typeof ListRunStepsRequestSchema>,
  { caller }: Call,
): Promise<MessageInitShape<typeof ListRunStepsResponseSchema>> {
  const { runId, pageSize = PAGE_SIZE, pageToken } = request;
  const run = await ownRun(context, runId, caller);
  const { items, end, total } = await listPage(context.steps, {
    seen: { run: run._id },
    index: "run",
    order: "_id",
    direction: 1,
    after: positionOf(pageToken, request),
    size: pageSize,
    projection: { calls: 0, thoughts: 0 },
  });
  return {
    steps: items.map(stepOf),
    ...(end !== undefined && { nextPageToken: pageTokenOf(end, request) }),
    ...(total !== undefined && { totalSize: total }),
  };
}
