import { type MessageInitShape, type MessageShape, toBinary } from "@bufbuild/protobuf";
import {
  ExportTraceServiceRequestSchema,
  type ExportTraceServiceResponseSchema,
} from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import { unreadOf } from "../../shared/rpc/unread.js";
import { usableAgents } from "../access.js";
import type { Context } from "../context.js";
import { endOf, senderOf } from "../deliveries.js";
import { keepSpans } from "../keep-spans.js";
import { readSpans } from "../read-spans.js";
import type { Rejects } from "../rejects.js";

/**
 * Takes spans in (OTLP). They belong to the caller; a delivery that is repeated
 * changes nothing; spans that cannot be taken are counted in partial_success.
 * Once the sender is gone no further trace is begun. A long export arrives
 * unread; threads read and keep it.
 *
 * @throws ConnectError canceled, where the sender is gone; resource_exhausted, where too many exports wait;
 *   invalid_argument for one that cannot be read.
 */
export async function exportSpans(
  context: Context,
  request: MessageShape<typeof ExportTraceServiceRequestSchema>,
  call: Call,
): Promise<MessageInitShape<typeof ExportTraceServiceResponseSchema>> {
  const unread = unreadOf(request);
  const rejects = await (unread === undefined ? keptHere(context, request, call) : context.apart.keep(unread, call));
  if (rejects.count === 0) return {};
  const errorMessage = [...rejects.reasons].join("; ");
  context.log.debug({ caller: call.caller.id, rejected: rejects.count, reasons: errorMessage }, "spans rejected");
  return { partialSuccess: { rejectedSpans: BigInt(rejects.count), errorMessage } };
}

async function keptHere(
  { store, peers, retentionDays, quota }: Context,
  request: MessageShape<typeof ExportTraceServiceRequestSchema>,
  call: Call,
): Promise<Rejects> {
  const bytes = toBinary(ExportTraceServiceRequestSchema, request);
  const { traces, agents, rejects, owner } = readSpans(bytes, retentionDays);
  const usable = await usableAgents(peers, call, agents);
  const delivery = { traces, sender: senderOf(call.caller, owner), usable, expiresAt: endOf(retentionDays) };
  await keepSpans(store, quota, delivery, rejects, () => call.signal.aborted);
  return rejects;
}
