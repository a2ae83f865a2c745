import { TraceService } from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { TraceInspectionService } from "#proto/traces/v1/trace_inspection_service_pb.js";
import { type Method, unary } from "../shared/method.js";
import type { Peers } from "../shared/peers.js";
import { exportSpans } from "./commands/export-spans.js";
import { getTracePayload } from "./commands/get-trace-payload.js";
import { inspectAgentTraces } from "./commands/inspect-agent-traces.js";
import type { Collections } from "./store.js";

/** Every rpc of this service and what answers it. */
export function routesOf(collections: Collections, peers: Peers, retentionDays: number): Method[] {
  const { inspectAgentTraces: inspect, getTracePayload: payload } = TraceInspectionService.method;
  return [
    unary(TraceService.method.export, (request, call) => exportSpans(collections, peers, retentionDays, request, call)),
    unary(inspect, (request, call) => inspectAgentTraces(collections, peers, request, call)),
    unary(payload, (request, call) => getTracePayload(collections, peers, request, call)),
  ];
}
