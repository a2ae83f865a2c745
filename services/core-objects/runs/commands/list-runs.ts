import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { ListRunsRequestSchema, ListRunsResponseSchema } from "#proto/core/v1/run_service_pb.js";
import type { Call } from "../../../shared/rpc/call.js";
import { pageTokenOf, positionOf } from "../../../shared/rpc/page-token.js";
import { type Listing, listPage } from "../../../shared/store/page.js";
import type { Context } from "../../context.js";
import type { RunRecord } from "../record.js";
import { rowOf, stateOf } from "../view.js";

const PAGE_SIZE = 20;
const HIDDEN = { output: 0, delegation: 0, left_out: 0 };

/** Lists the caller's runs, the newest first. */
export async function listRuns(
  { runs }: Context,
  request: MessageShape<typeof ListRunsRequestSchema>,
  { caller }: Call,
): Promise<MessageInitShape<typeof ListRunsResponseSchema>> {
  const { items, end, total } = await listPage(runs, {
    ...selectionOf(request, caller.id),
    order: "_id",
    direction: -1,
    after: positionOf(request.pageToken),
    size: request.pageSize ?? PAGE_SIZE,
    projection: HIDDEN,
  });
  return {
    runs: items.map(rowOf),
    ...(end !== undefined && { nextPageToken: pageTokenOf(end) }),
    ...(total !== undefined && { totalSize: total }),
  };
}

/** The first of what is demanded has an index, the others are looked for. */
function selectionOf(
  { agentId, assignmentId, state }: MessageShape<typeof ListRunsRequestSchema>,
  owner: string,
): Pick<Listing<RunRecord>, "seen" | "wanted" | "index"> {
  const word = stateOf(state);
  const demanded = [
    ...(assignmentId === "" ? [] : [["assignment", assignmentId] as const]),
    ...(agentId === "" ? [] : [["agent", agentId] as const]),
    ...(word === undefined ? [] : [["state", word] as const]),
  ];
  const [first, ...rest] = demanded;
  if (first === undefined) return { seen: { owner }, index: "owner" };
  const wanted = rest.length === 0 ? undefined : Object.fromEntries(rest);
  return { seen: { owner, [first[0]]: first[1] }, index: first[0], wanted };
}
