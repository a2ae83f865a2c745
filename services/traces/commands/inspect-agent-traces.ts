import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { timestampFromDate, timestampMs } from "@bufbuild/protobuf/wkt";
import {
  type FieldPreviewSchema,
  type InspectAgentTracesRequestSchema,
  type InspectAgentTracesResponseSchema,
  Period,
  type SpanSummarySchema,
  TraceStatus,
  type TraceSummarySchema,
} from "#proto/traces/v1/trace_inspection_service_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import { invalidArgument, notFound } from "../../shared/rpc/errors.js";
import { pageTokenOf, positionOf } from "../../shared/rpc/page-token.js";
import type { Peers } from "../../shared/rpc/peers.js";
import type { Filter } from "../../shared/store/store.js";
import { readableBy } from "../access.js";
import { previewOf } from "../preview.js";
import type { Collections, FieldRecord, SpanRecord, TraceRecord } from "../store.js";
import { tracesNamed } from "../trace-name.js";

type Request = MessageShape<typeof InspectAgentTracesRequestSchema>;
type Response = MessageInitShape<typeof InspectAgentTracesResponseSchema>;

const PAGE_SIZE = 20;
const PREVIEW_CHARS = 200;
const FIELDS_SHOWN = 12;
const COUNTED = 10_000;
const HOUR_MS = 3_600_000;
const HOURS: Readonly<Record<Period, number>> = {
  [Period.UNSPECIFIED]: 24,
  [Period.LAST_HOUR]: 1,
  [Period.LAST_DAY]: 24,
  [Period.LAST_WEEK]: 7 * 24,
  [Period.LAST_MONTH]: 30 * 24,
  [Period.ALL]: Number.POSITIVE_INFINITY,
};

/** Lists the traces that the caller may read, or one of them with its spans. */
export async function inspectAgentTraces(
  collections: Collections,
  peers: Peers,
  request: Request,
  call: Call,
): Promise<Response> {
  const readable = await readableBy(peers, call, request.targetAgentId);
  const { status, source, model } = request;
  const wanted = {
    ...readable,
    ...(status !== TraceStatus.UNSPECIFIED && { error_count: status === TraceStatus.ERROR ? { $gt: 0 } : 0 }),
    ...(source !== "" && { sources: source }),
    ...(model !== "" && { models: model }),
    expires_at: { $gt: new Date() },
  } as Filter<TraceRecord>;
  return request.traceId === "" ? listTraces(collections, wanted, request) : showTrace(collections, wanted, request);
}

async function listTraces({ traces }: Collections, wanted: Filter<TraceRecord>, request: Request): Promise<Response> {
  const [from, to] = periodOf(request);
  const all = { ...wanted, order: { $gte: from, ...(to !== undefined && { $lt: to }) } } as Filter<TraceRecord>;
  const before = positionOf(request.pageToken);
  const page = before === undefined ? all : ({ ...all, order: { $gte: from, $lt: before } } as Filter<TraceRecord>);
  const size = request.pageSize ?? PAGE_SIZE;
  const [found, totalSize] = await Promise.all([
    traces.find(page, { sort: { order: -1 }, limit: size + 1, projection: { batches: 0 } }).toArray(),
    traces.countDocuments(all, { limit: COUNTED }),
  ]);
  const shown = found.slice(0, size);
  return {
    traces: shown.map((trace) => summaryOf(trace, request)),
    nextPageToken: found.length > size ? pageTokenOf(shown.at(-1)!.order) : "",
    totalSize,
  };
}

async function showTrace(
  { traces, spans }: Collections,
  wanted: Filter<TraceRecord>,
  request: Request,
): Promise<Response> {
  const named = { ...wanted, ...tracesNamed(request.traceId) } as Filter<TraceRecord>;
  const parts = await traces.find(named, { limit: 100, projection: { batches: 0 } }).toArray();
  const summaries = parts.map((trace) => summaryOf(trace, request));
  if (parts.length === 0) throw notFound(`no trace that you can read has the id ${request.traceId}`);
  if (parts.length > 1) return { traces: summaries, totalSize: 0 };

  const all: Filter<SpanRecord> = { trace: parts[0]!._id };
  const after = positionOf(request.pageToken);
  const page = after === undefined ? all : ({ ...all, order: { $gt: after } } as Filter<SpanRecord>);
  const size = request.pageSize ?? PAGE_SIZE;
  const [found, totalSize] = await Promise.all([
    spans.find(page, { sort: { order: 1 }, limit: size + 1 }).toArray(),
    spans.countDocuments(all, { limit: COUNTED }),
  ]);
  const shown = found.slice(0, size);
  return {
    traces: summaries,
    spans: shown.map((span) => stepOf(span, request)),
    nextPageToken: found.length > size ? pageTokenOf(shown.at(-1)!.order) : "",
    totalSize,
  };
}

function summaryOf(trace: TraceRecord, request: Request): MessageInitShape<typeof TraceSummarySchema> {
  return {
    id: trace._id,
    traceId: trace.trace_id,
    name: trace.name,
    source: (trace.sources ?? []).join(", "),
    status: trace.error_count > 0 ? TraceStatus.ERROR : TraceStatus.OK,
    startedAt: timestampFromDate(trace.started_at),
    durationMs: trace.ended_at.getTime() - trace.started_at.getTime(),
    userId: trace.user,
    agentIds: [...(trace.agents ?? [])],
    models: [...(trace.models ?? [])],
    tools: [...(trace.tools ?? [])],
    inputTokens: trace.input_tokens,
    outputTokens: trace.output_tokens,
    spanCount: trace.span_count,
    errorCount: trace.error_count,
    fields: previewsOf(trace.fields ?? [], request),
  };
}

function stepOf(span: SpanRecord, request: Request): MessageInitShape<typeof SpanSummarySchema> {
  const fields = previewsOf(span.fields.slice(0, FIELDS_SHOWN), request);
  return {
    spanId: span.span_id,
    parentSpanId: span.parent_span_id,
    name: span.name,
    operation: span.operation,
    status: span.error ? TraceStatus.ERROR : TraceStatus.OK,
    startedAt: timestampFromDate(span.started_at),
    durationMs: span.duration_ms,
    agentId: span.agent_id,
    agentName: span.agent_name,
    model: span.model,
    tool: span.tool,
    inputTokens: span.input_tokens,
    outputTokens: span.output_tokens,
    fields,
    moreFields: span.field_count - fields.length,
  };
}

function previewsOf(
  fields: readonly FieldRecord[],
  { previewChars }: Request,
): MessageInitShape<typeof FieldPreviewSchema>[] {
  return fields.map(({ field, preview: kept, bytes }) => {
    const preview = previewOf(kept, previewChars ?? PREVIEW_CHARS);
    return { field, preview, bytes, truncated: Buffer.byteLength(preview) < bytes };
  });
}

/** The period as bounds on `order`, which begins with the start. */
function periodOf({ period, startedAfter, startedBefore }: Request): [from: string, to: string | undefined] {
  const back = Date.now() - HOURS[period] * HOUR_MS;
  const from = startedAfter === undefined ? back : timestampMs(startedAfter);
  const to = startedBefore === undefined ? undefined : timestampMs(startedBefore);
  if (to !== undefined && from >= to)
    throw invalidArgument("started_before must be later than where the period begins");
  return [
    Number.isFinite(from) ? new Date(from).toISOString() : "",
    to === undefined ? to : new Date(to).toISOString(),
  ];
}
