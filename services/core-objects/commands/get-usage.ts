import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import type { GetUsageRequestSchema, GetUsageResponseSchema, UsageSchema } from "#proto/core/v1/usage_service_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import { invalidArgument, permissionDenied } from "../../shared/rpc/errors.js";
import type { Context } from "../context.js";
import { DEPLOYMENT } from "../room.js";
import { amountOf } from "../runs/spending/cost.js";
import { counterOf, spentIn } from "../runs/spending/counters.js";

type Row = MessageInitShape<typeof UsageSchema>;

/** Shows what somebody stores, and how much more they may. */
export async function getUsage(
  context: Context,
  { deployment, owner: asked }: MessageShape<typeof GetUsageRequestSchema>,
  { caller }: Call,
): Promise<MessageInitShape<typeof GetUsageResponseSchema>> {
  if (deployment && asked !== "") throw invalidArgument("give either deployment or owner, not both");
  const isOwn = !deployment && (asked === "" || asked === caller.id);
  if (!isOwn && !caller.admin)
    throw permissionDenied(
      "only administrators can see the usage of other users and of the deployment: omit both to see yours",
    );
  const owner = deployment ? DEPLOYMENT : asked || caller.id;
  const id = deployment ? "" : owner;
  const [stored, traces, audit] = await Promise.all([
    storedRows(context, owner),
    rowsElsewhere("traces", () => traceRows(context, id)),
    rowsElsewhere("audit records", () => auditRows(context, id)),
  ]);
  const models = await modelRows(context, owner);
  return {
    usage: [...stored, ...models.rows, ...traces.rows, ...audit.rows],
    notes: [...models.notes, ...traces.notes, ...audit.notes],
  };
}

/** What was spent on models on the day so far; of the deployment, what the company pays. */
async function modelRows({ spending, dayLimits, models }: Context, owner: string) {
  const isAll = owner === DEPLOYMENT;
  const limit = isAll ? dayLimits.deployment : dayLimits.user;
  const spent = await spentIn(spending, counterOf(isAll ? DEPLOYMENT : { user: owner }));
  const whose = isAll ? ", through company-managed integrations" : "";
  const rows: Row[] = [
    {
      ...{ name: `tokens of models today (UTC)${whose}`, used: spent.tokens, unit: "tokens" },
      ...(limit.tokens !== undefined && { limit: limit.tokens }),
    },
  ];
  if (models.currency !== "")
    rows.push({
      ...{ name: `cost of models today (UTC)${whose}`, used: amountOf(spent.nanos), unit: models.currency },
      ...(limit.nanos !== undefined && { limit: amountOf(limit.nanos) }),
    });
  const isUnpriced = models.currency !== "" && spent.unpriced > 0;
  const notes = isUnpriced ? [`the cost does not include ${spent.unpriced} requests whose price is not known`] : [];
  return { rows, notes };
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

/** Rows of another service, which may be away. */
async function rowsElsewhere(
  what: string,
  read: () => Promise<Row[]>,
): Promise<{ readonly rows: Row[]; readonly notes: string[] }> {
  try {
    return { rows: await read(), notes: [] };
  } catch (error) {
    return { rows: [], notes: [`${what} cannot be shown: ${ConnectError.from(error).rawMessage}`] };
  }
}

/** @param id the user's; "" for everyone. */
async function traceRows({ traceUsage }: Context, id: string): Promise<Row[]> {
  const { spans, bytes, maxSpans, maxBytes } = await traceUsage(id);
  return [
    { name: "spans of traces", used: spans, ...(maxSpans > 0 && { limit: maxSpans }), unit: "spans" },
    { name: "storage of traces", used: bytes, limit: maxBytes, unit: "bytes" },
  ];
}

/** @param id the user's; "" for everyone. None for who has no records of their own, such as the company. */
async function auditRows({ auditUsage }: Context, id: string): Promise<Row[]> {
  const { records, maxRecords } = await auditUsage(id);
  if (records === undefined) return [];
  return [{ name: "audit records", used: records, ...(maxRecords > 0 && { limit: maxRecords }), unit: "records" }];
}
