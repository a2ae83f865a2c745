import { TraceService } from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { TraceInspectionService } from "#proto/traces/v1/trace_inspection_service_pb.js";
import { type Method, unary } from "../shared/rpc/method.js";
import { exportSpans, type Inbox } from "./commands/export-spans.js";
import { getTracePayload } from "./commands/get-trace-payload.js";
import { inspectAgentTraces } from "./commands/inspect-agent-traces.js";

/** Every rpc of this service and what answers it. */
export function routesOf(inbox: Inbox): Method[] {
  const { collections, peers } = inbox;
  const { inspectAgentTraces: inspect, getTracePayload: payload } = TraceInspectionService.method;
  return [
    unary(TraceService.method.export, (request, call) => exportSpans(inbox, request, call)),
    unary(inspect, (request, call) => inspectAgentTraces(collections, peers, request, call)),
    unary(payload, (request, call) => getTracePayload(collections, peers, request, call)),
  ];
}
