import { createHash } from "node:crypto";
import { create, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { KeyValueSchema } from "#proto/opentelemetry/proto/common/v1/common_pb.js";
import { LogRecordSchema } from "#proto/opentelemetry/proto/logs/v1/logs_pb.js";
import { SpanSchema } from "#proto/opentelemetry/proto/trace/v1/trace_pb.js";

// Some instrumentations send what models read and write not with the spans, but as events of the GenAI conventions in
// log records. Such an event is kept as what it is of its span: an entry below it, without a duration.

const GEN_AI = "gen_ai.";
const TEXT = "stringValue";

/** Under which key the body of an event is kept: gen-ai.ts reads input and output from two of them. */
const BODY: Readonly<Record<string, string>> = {
  "gen_ai.user.message": "gen_ai.message",
  "gen_ai.assistant.message": "gen_ai.message",
  "gen_ai.tool.message": "gen_ai.message",
  "gen_ai.choice": "gen_ai.choice",
};

/**
 * Makes a span of one log record of OTLP.
 *
 * @returns its bytes, or the reason, in words for its sender, where it is no event that is kept.
 */
export function spanOfEvent(record: MessageShape<typeof LogRecordSchema>): Buffer | string {
  const { traceId, spanId, body, attributes } = record;
  const name = nameOf(record);
  if (!name.startsWith(GEN_AI)) return "only events of the GenAI conventions are kept: their names begin with gen_ai.";
  if (traceId.length === 0) return "a log record names no trace: send it while its span is active";
  const at = record.timeUnixNano || record.observedTimeUnixNano;
  const said = body === undefined ? [] : [create(KeyValueSchema, { key: BODY[name] ?? "body", value: body })];
  const span = create(SpanSchema, {
    ...{ traceId, parentSpanId: spanId, name, startTimeUnixNano: at, endTimeUnixNano: at },
    // The same record has the same id, so that a delivery that is repeated changes nothing.
    spanId: createHash("sha256").update(toBinary(LogRecordSchema, record)).digest().subarray(0, 8),
    attributes: [...said, ...attributes],
  });
  return Buffer.from(toBinary(SpanSchema, span));
}

/** Senders of before OTLP 1.5 name events in an attribute. */
function nameOf({ eventName, attributes }: MessageShape<typeof LogRecordSchema>): string {
  if (eventName !== "") return eventName;
  const value = attributes.find(({ key }) => key === "event.name")?.value?.value;
  return value?.case === TEXT ? value.value : "";
}
