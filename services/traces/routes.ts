import { LogsService } from "#proto/opentelemetry/proto/collector/logs/v1/logs_service_pb.js";
import { TraceService } from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { PersonalDataService } from "#proto/traces/v1/personal_data_service_pb.js";
import { TraceInspectionService } from "#proto/traces/v1/trace_inspection_service_pb.js";
import { TraceUsageService } from "#proto/traces/v1/trace_usage_service_pb.js";
import { type Method, unary } from "../shared/rpc/method.js";
import { exportLogs } from "./commands/export-logs.js";
import { exportSpans } from "./commands/export-spans.js";
import { getTracePayload } from "./commands/get-trace-payload.js";
import { getTraceUsage } from "./commands/get-trace-usage.js";
import { inspectAgentTraces } from "./commands/inspect-agent-traces.js";
import type { Context } from "./context.js";
import { erasePersonalData } from "./personal/erase.js";
import { exportPersonalData } from "./personal/export.js";

/** Every rpc of this service and the command that answers it. */
export function routes(context: Context): readonly Method[] {
  const inspection = TraceInspectionService.method;
  return [
    unary(TraceService.method.export, (request, call) => exportSpans(context, request, call)),
    unary(LogsService.method.export, (request, call) => exportLogs(context, request, call)),
    unary(inspection.inspectAgentTraces, (request, call) => inspectAgentTraces(context, request, call)),
    unary(TraceUsageService.method.getTraceUsage, (request) => getTraceUsage(context, request)),
    unary(inspection.getTracePayload, (request, call) => getTracePayload(context, request, call)),
    unary(PersonalDataService.method.exportPersonalData, (request) => exportPersonalData(context, request)),
    unary(PersonalDataService.method.erasePersonalData, (request, call) => erasePersonalData(context, request, call)),
  ];
}
