import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import type { GetUsageRequestSchema, GetUsageResponseSchema, UsageSchema } from "#proto/core/v1/usage_service_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import { invalidArgument, permissionDenied } from "../../shared/rpc/errors.js";
import type { Context } from "../context.js";
import { DEPLOYMENT } from "../room.js";

type Row = MessageInitShape<typeof UsageSchema>;

/** Shows what somebody stores, and how much more they may. */
export async function getUsage(
  context: Context,
  { deployment, owner: asked }: MessageShape<typeof GetUsageRequestSchema>,
  { caller }: Call,
): Promise<MessageInitShape<typeof GetUsageResponseSchema>> {
  if (deployment && asked !== "") throw invalidArgument("give either deployment or owner");
  const isOwn = !deployment && (asked === "" || asked === caller.id);
  if (!isOwn && !caller.admin)
    throw permissionDenied(
      "only administrators see the usage of others and of the deployment: leave both out for yours",
    );
  const owner = deployment ? DEPLOYMENT : asked || caller.id;
  const [stored, traces] = [await storedRows(context, owner), await traceRows(context, owner)];
  return { usage: [...stored, ...traces.rows], notes: traces.notes };
}

async function storedRows({ room, runRoom }: Context, owner: string): Promise<Row[]> {
  const { objects, bytes, documents, knowledge } = await room.of(owner);
  const runs = await runRoom.of(owner);
  const { quota } = room;
  if (owner === DEPLOYMENT) {
    return [
      { name: "objects", used: objects, unit: "objects" },
      { name: "documents", used: documents, unit: "documents" },
      { name: "storage of objects and documents", used: bytes + knowledge, limit: quota.deployment, unit: "bytes" },
      { name: "runs", used: runs.runs, unit: "runs" },
      { name: "storage of runs", used: runs.bytes, limit: quota.deploymentRuns, unit: "bytes" },
    ];
  }
  return [
    { name: "objects and documents", used: objects + documents, limit: quota.objects, unit: "objects" },
    { name: "storage of objects", used: bytes, limit: quota.bytes, unit: "bytes" },
    { name: "storage of documents", used: knowledge, limit: quota.knowledge, unit: "bytes" },
    { name: "runs", used: runs.runs, unit: "runs" },
    { name: "storage of runs", used: runs.bytes, limit: quota.runs, unit: "bytes" },
  ];
}

/** Traces are another service's, which may be away. */
async function traceRows(
  { traceUsage }: Context,
  owner: string,
): Promise<{ readonly rows: Row[]; readonly notes: string[] }> {
  try {
    const { spans, bytes, maxSpans, maxBytes } = await traceUsage(owner === DEPLOYMENT ? "" : owner);
    return {
      rows: [
        { name: "spans of traces", used: spans, ...(maxSpans > 0 && { limit: maxSpans }), unit: "spans" },
        { name: "storage of traces", used: bytes, limit: maxBytes, unit: "bytes" },
      ],
      notes: [],
    };
  } catch (error) {
    return { rows: [], notes: [`traces are not shown: ${ConnectError.from(error).rawMessage}`] };
  }
}
