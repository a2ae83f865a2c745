import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type {
  ExportLogsServiceRequestSchema,
  ExportLogsServiceResponseSchema,
} from "#proto/opentelemetry/proto/collector/logs/v1/logs_service_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import { usableAgents } from "../access.js";
import type { Context } from "../context.js";
import { endOf, senderOf } from "../deliveries.js";
import { keepSpans } from "../keep-spans.js";
import { readEvents } from "../read-events.js";

/**
 * Takes events of the GenAI conventions in (OTLP logs), as spans are taken: they belong to the caller, a delivery that is
 * repeated changes nothing, and what cannot be taken is counted in partial_success.
 *
 * @throws ConnectError canceled, where the sender is gone.
 */
export async function exportLogs(
  { store, peers, retentionDays, quota, log }: Context,
  request: MessageShape<typeof ExportLogsServiceRequestSchema>,
  call: Call,
): Promise<MessageInitShape<typeof ExportLogsServiceResponseSchema>> {
  const { traces, agents, rejects } = await readEvents(request, retentionDays);
  if (traces.length > 0) {
    const usable = await usableAgents(peers, call, agents);
    const delivery = { traces, sender: senderOf(call.caller, undefined), usable, expiresAt: endOf(retentionDays) };
    await keepSpans(store, quota, delivery, rejects, () => call.signal.aborted);
  }
  if (rejects.count === 0) return {};
  const errorMessage = [...rejects.reasons].join("; ");
  log.debug({ caller: call.caller.id, rejected: rejects.count, reasons: errorMessage }, "log records rejected");
  return { partialSuccess: { rejectedLogRecords: BigInt(rejects.count), errorMessage } };
}
