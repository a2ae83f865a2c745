import type { Timestamp } from "@bufbuild/protobuf/wkt";
import {
  type FieldPreview,
  type Reference,
  type SpanSummary,
  SpanSummarySchema,
  TraceStatus,
  type TraceSummary,
  TraceSummarySchema,
} from "#proto/traces/v1/trace_inspection_service_pb.js";
import { previewOf } from "./preview.js";
import type { FieldRecord, SpanRecord, TraceRecord } from "./store.js";
import { type Counted, rowOf } from "./within-budget.js";

// A page has up to a hundred rows, of some messages each. They are written as the objects that `create` makes, which
// takes a third of its time: the compiler sees to it that no field is missing.

const PREVIEW_CHARS = 200;
const FIELDS_SHOWN = 12;
/** Names shown of each kind. */
const NAMES_SHOWN = 10;

/** A trace as a list shows it, with so many characters of each field, or fewer where the row would be too large. */
export function traceSummaryOf(trace: TraceRecord, previewChars = PREVIEW_CHARS): Counted<TraceSummary> {
  return rowOf(TraceSummarySchema, (chars) => traceWith(trace, chars), previewChars);
}

function traceWith(trace: TraceRecord, previewChars: number): TraceSummary {
  const { agents = [], external = [], sources = [], models = [], tools = [] } = trace;
  const more =
    moreOf(agents.length + external.length) + moreOf(sources.length) + moreOf(models.length) + moreOf(tools.length);
  const named = [...agents.map(withId), ...external.map(withName)];
  return {
    $typeName: "traces.v1.TraceSummary",
    id: trace._id,
    name: trace.name,
    source: shown(sources).join(", "),
    status: trace.error_count > 0 ? TraceStatus.ERROR : TraceStatus.OK,
    startedAt: timestampOf(trace.started_at),
    durationMs: trace.ended_at.getTime() - trace.started_at.getTime(),
    user: withId(trace.user),
    agents: shown(named),
    models: shown(models),
    tools: shown(tools),
    ...(more > 0 && { moreNames: more }),
    inputTokens: int32(trace.input_tokens),
    outputTokens: int32(trace.output_tokens),
    spanCount: trace.span_count,
    errorCount: trace.error_count,
    fields: previewsOf(shownOf(trace), previewChars),
  };
}

function shown<T>(names: readonly T[]): T[] {
  return names.slice(0, NAMES_SHOWN);
}

/** The number of names that are not shown. */
function moreOf(names: number): number {
  return Math.max(0, names - NAMES_SHOWN);
}

function withId(id: string): Reference {
  return { $typeName: "traces.v1.Reference", id };
}

function withName(name: string): Reference {
  return { $typeName: "traces.v1.Reference", name };
}

function timestampOf(time: Date): Timestamp {
  const ms = time.getTime();
  const seconds = Math.floor(ms / 1000);
  return { $typeName: "google.protobuf.Timestamp", seconds: BigInt(seconds), nanos: (ms - seconds * 1000) * 1_000_000 };
}

/** The fields of the outermost span, with the first input of another where it has none. */
function shownOf({ fields = [], first_input: first = [] }: TraceRecord): readonly FieldRecord[] {
  return fields.some(({ field }) => field === "input") ? fields : [...first, ...fields];
}

/** A span as a list shows it: its first fields, with so many characters of each. */
export function spanSummaryOf(span: SpanRecord, previewChars = PREVIEW_CHARS): Counted<SpanSummary> {
  return rowOf(SpanSummarySchema, (chars) => spanWith(span, chars), previewChars);
}

function spanWith(span: SpanRecord, previewChars: number): SpanSummary {
  const { agent_id: agentId, agent_name: agentName } = span;
  const fields = previewsOf(span.fields.slice(0, FIELDS_SHOWN), previewChars);
  return {
    $typeName: "traces.v1.SpanSummary",
    spanId: span.span_id,
    parentSpanId: span.parent_span_id,
    name: span.name,
    operation: span.operation,
    status: span.error ? TraceStatus.ERROR : TraceStatus.OK,
    startedAt: timestampOf(span.started_at),
    durationMs: span.duration_ms,
    ...((agentId !== "" || agentName !== "") && {
      agent: {
        $typeName: "traces.v1.Reference" as const,
        ...(agentId !== "" && { id: agentId }),
        ...(agentName !== "" && { name: agentName }),
      },
    }),
    model: span.model,
    tool: span.tool,
    inputTokens: span.input_tokens,
    outputTokens: span.output_tokens,
    fields,
    moreFields: span.field_count - fields.length,
  };
}

function previewsOf(fields: readonly FieldRecord[], previewChars: number): FieldPreview[] {
  return fields.map(({ field, preview: kept, bytes }) => {
    const preview = previewOf(kept, previewChars);
    const truncated = Buffer.byteLength(preview) < bytes;
    return { $typeName: "traces.v1.FieldPreview", field, preview, bytes, truncated };
  });
}

/** Sums over 20,000 spans can pass what an int32 holds. */
function int32(sum: number): number {
  return Math.min(sum, 0x7fff_ffff);
}
