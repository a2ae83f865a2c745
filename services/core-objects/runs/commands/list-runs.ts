import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ListRunsRequestSchema, ListRunsResponseSchema } from "#proto/core/v1/run_service_pb.js";
import type { Call } from "../../../shared/rpc/call.js";
import { pageTokenOf, positionOf } from "../../../shared/rpc/page-token.js";
import { type Listing, listPage } from "../../../shared/store/page.js";
import type { Context } from "../../context.js";
import type { AssignmentRecord } from "../../kinds/assignments/record.js";
import type { RunRecord } from "../record.js";
import { rowOf, stateOf } from "../view.js";

const PAGE_SIZE = 20;
/** Stopped schedules that an answer names. */
const MAX_STOPPED = 20;
const HIDDEN = { output: 0, delegation: 0, left_out: 0, pending: 0 };

/** Lists the caller's runs, the newest first. */
export async function listRuns(
  context: Context,
  request: MessageShape<typeof ListRunsRequestSchema>,
  { caller }: Call,
): Promise<MessageInitShape<typeof ListRunsResponseSchema>> {
  const isNews = request.newsSince !== undefined && request.pageToken === "";
  const { items, end, total } = await listPage(context.runs, {
    ...selectionOf(request, caller.id),
    order: "_id",
    direction: -1,
    after: positionOf(request.pageToken, request),
    size: request.pageSize ?? PAGE_SIZE,
    projection: HIDDEN,
  });
  return {
    runs: items.map(rowOf),
    ...(end !== undefined && { nextPageToken: pageTokenOf(end, request) }),
    ...(total !== undefined && { totalSize: total }),
    ...(isNews && { stoppedSchedules: await stoppedSince(context, request.newsSince!, caller.id) }),
  };
}

/** The caller's schedules that we stopped: nothing else says that no run of theirs comes any more. */
async function stoppedSince(context: Context, since: Timestamp, owner: string) {
  const stopped = await context
    .collection<AssignmentRecord>("assignment")
    .find(
      { owner, paused_at: { $gt: timestampDate(since) } },
      {
        sort: { paused_at: -1 },
        limit: MAX_STOPPED,
        projection: { name: 1, paused: 1, paused_at: 1 },
        hint: "stopped",
      },
    )
    .toArray();
  return stopped.map(({ _id, name, paused = "", paused_at }) => ({
    assignment: { id: _id, name },
    reason: paused,
    stoppedAt: timestampFromDate(paused_at ?? new Date(0)),
  }));
}

/** The first of what is demanded has an index, the others are looked for. */
function selectionOf(
  { agentId, assignmentId, state, newsSince }: MessageShape<typeof ListRunsRequestSchema>,
  owner: string,
): Pick<Listing<RunRecord>, "seen" | "wanted" | "index"> {
  const word = stateOf(state);
  const demanded = [
    ...(assignmentId === "" ? [] : [["assignment", assignmentId] as const]),
    ...(agentId === "" ? [] : [["agent", agentId] as const]),
    ...(word === undefined ? [] : [["state", word] as const]),
  ];
  const [first, ...rest] = demanded;
  const news = newsSince && {
    $or: [{ state: "awaiting_input" as const }, { ended_at: { $gt: timestampDate(newsSince) } }],
  };
  if (first === undefined) return { seen: { owner }, index: "owner", wanted: news };
  const wanted = rest.length === 0 ? news : { ...Object.fromEntries(rest), ...news };
  return { seen: { owner, [first[0]]: first[1] }, index: first[0], wanted };
}
