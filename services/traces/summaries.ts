import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type FieldPreviewSchema,
  type SpanSummary,
  SpanSummarySchema,
  TraceStatus,
  type TraceSummary,
  TraceSummarySchema,
} from "#proto/traces/v1/trace_inspection_service_pb.js";
import { previewOf } from "./preview.js";
import type { FieldRecord, SpanRecord, TraceRecord } from "./store.js";
import { rowOf } from "./within-budget.js";

const PREVIEW_CHARS = 200;
const FIELDS_SHOWN = 12;
/** Names shown of each kind. */
const NAMES_SHOWN = 10;

/** A trace as a list shows it, with so many characters of each field, or fewer where the row would be too large. */
export function traceSummaryOf(trace: TraceRecord, previewChars = PREVIEW_CHARS): TraceSummary {
  return rowOf(TraceSummarySchema, (chars) => traceWith(trace, chars), previewChars);
}

function traceWith(trace: TraceRecord, previewChars: number): TraceSummary {
  const { agents = [], external = [], sources = [], models = [], tools = [] } = trace;
  const more = [[...agents, ...external], sources, models, tools].reduce(
    (sum, names) => sum + Math.max(0, names.length - NAMES_SHOWN),
    0,
  );
  const shown = (names: readonly string[]): string[] => names.slice(0, NAMES_SHOWN);
  return create(TraceSummarySchema, {
    id: trace._id,
    name: trace.name,
    source: shown(sources).join(", "),
    status: trace.error_count > 0 ? TraceStatus.ERROR : TraceStatus.OK,
    startedAt: timestampFromDate(trace.started_at),
    durationMs: trace.ended_at.getTime() - trace.started_at.getTime(),
    user: { id: trace.user },
    agents: [...agents.map((id) => ({ id })), ...external.map((name) => ({ name }))].slice(0, NAMES_SHOWN),
    models: shown(models),
    tools: shown(tools),
    ...(more > 0 && { moreNames: more }),
    inputTokens: int32(trace.input_tokens),
    outputTokens: int32(trace.output_tokens),
    spanCount: trace.span_count,
    errorCount: trace.error_count,
    fields: previewsOf(shownOf(trace), previewChars),
  });
}

/** The fields of the outermost span, with the first input of another where it has none. */
function shownOf({ fields = [], first_input: first = [] }: TraceRecord): readonly FieldRecord[] {
  return fields.some(({ field }) => field === "input") ? fields : [...first, ...fields];
}

/** A span as a list shows it: its first fields, with so many characters of each. */
export function spanSummaryOf(span: SpanRecord, previewChars = PREVIEW_CHARS): SpanSummary {
  return rowOf(SpanSummarySchema, (chars) => spanWith(span, chars), previewChars);
}

function spanWith(span: SpanRecord, previewChars: number): SpanSummary {
  const { agent_id: agentId, agent_name: agentName } = span;
  const fields = previewsOf(span.fields.slice(0, FIELDS_SHOWN), previewChars);
  return create(SpanSummarySchema, {
    spanId: span.span_id,
    parentSpanId: span.parent_span_id,
    name: span.name,
    operation: span.operation,
    status: span.error ? TraceStatus.ERROR : TraceStatus.OK,
    startedAt: timestampFromDate(span.started_at),
    durationMs: span.duration_ms,
    ...((agentId !== "" || agentName !== "") && {
      agent: { ...(agentId !== "" && { id: agentId }), ...(agentName !== "" && { name: agentName }) },
    }),
    model: span.model,
    tool: span.tool,
    inputTokens: span.input_tokens,
    outputTokens: span.output_tokens,
    fields,
    moreFields: span.field_count - fields.length,
  });
}

function previewsOf(
  fields: readonly FieldRecord[],
  previewChars: number,
): MessageInitShape<typeof FieldPreviewSchema>[] {
  return fields.map(({ field, preview: kept, bytes }) => {
    const preview = previewOf(kept, previewChars);
    return { field, preview, bytes, truncated: Buffer.byteLength(preview) < bytes };
  });
}

/** Sums over 20,000 spans can pass what an int32 holds. */
function int32(sum: number): number {
  return Math.min(sum, 0x7fff_ffff);
}
