import type { MessageShape } from "@bufbuild/protobuf";
import type { KeyValueSchema } from "#proto/opentelemetry/proto/common/v1/common_pb.js";
import type { ResourceSpansSchema, SpanSchema } from "#proto/opentelemetry/proto/trace/v1/trace_pb.js";
import { Status_StatusCode as StatusCode } from "#proto/opentelemetry/proto/trace/v1/trace_pb.js";
import { type Kept, keptOf } from "./attributes.js";
import { type Fact, keyOf, operationOf } from "./gen-ai.js";
import { orderOf } from "./head.js";
import { agentIn } from "./lang-chain-agent.js";
import { previewOf } from "./preview.js";
import type { KeptField, PayloadField, SpanRecord } from "./store.js";

/** A span as it came, read but not yet anybody's. */
export interface ReadSpan {
  /** Lower-case hexadecimal. */
  readonly traceId: string;
  /** The span came from outside the process that sent it, or has no parent. */
  readonly outermost: "yes" | "here" | "no";
  readonly source: string;
  readonly facts: Omit<SpanRecord, "_id" | "trace" | "expires_at">;
  readonly payload: readonly PayloadField[];
}

const MAX_PREVIEWS = 64;
/** Longest name of anything, in characters. */
export const MAX_NAME = 200;
/** The most attributes and events of a span, those of its events and its resource included; SDKs send 128 of each. */
export const MAX_ATTRIBUTES = 1_024;
/** Longest key of an attribute, in characters. */
export const MAX_KEY = 256;
/** What a span has too much of, in words for its sender. */
export const EXCESS = {
  attributes: `a span has more than ${MAX_ATTRIBUTES} attributes and events`,
  key: `an attribute's key is longer than ${MAX_KEY} characters`,
};
/** Both bits: it is known whether the parent is in another process, and it is (OTLP SpanFlags). */
export const REMOTE_PARENT = 0x300;
/** The operation of an event, beside those of spans. */
export const EVENT = "event";

/**
 * Reads one span of OTLP.
 *
 * @returns the reason, in words for its sender, where the span is not valid.
 */
export function readSpan(
  span: MessageShape<typeof SpanSchema>,
  resource: MessageShape<typeof ResourceSpansSchema>["resource"],
): ReadSpan | string {
  if (!isId(span.traceId, 16)) return "a trace_id is not 16 bytes or all zero";
  if (!isId(span.spanId, 8)) return "a span_id is not 8 bytes or all zero";
  if (span.parentSpanId.length > 0 && span.parentSpanId.length !== 8) return "a parent_span_id is not 8 bytes";
  if (span.startTimeUnixNano === 0n) return "a span has no start time";
  const excess = excessOf([span, ...span.events, ...(resource === undefined ? [] : [resource])]);
  if (excess !== undefined) return excess;

  const values = new Map<string, { field: string; kept: Kept }>();
  const fields: { field: string; kept: Kept }[] = [];
  const add = (field: string, key: string, kept: Kept): void => {
    fields.push({ field, kept });
    if (!values.has(key)) values.set(key, { field, kept });
  };
  for (const { key, value } of span.attributes) add(`attributes.${key}`, key, keptOf(value));
  span.events.forEach((event, i) => {
    fields.push({ field: `events.${i}.name`, kept: { text: event.name, json: false } });
    for (const { key, value } of event.attributes) add(`events.${i}.${key}`, key, keptOf(value));
  });
  for (const { key, value } of resource?.attributes ?? []) add(`resource.${key}`, key, keptOf(value));

  const told = (fact: Fact) => {
    const key = keyOf(fact, (one) => values.has(one));
    return key === undefined ? undefined : values.get(key);
  };
  const word = (fact: Fact): string => previewOf(told(fact)?.kept.text ?? "", MAX_NAME);
  const error = span.status?.code === StatusCode.ERROR;
  const payload: PayloadField[] = [];
  for (const fact of ["input", "output"] as const) {
    const same = told(fact)?.field;
    if (same !== undefined) payload.push({ field: fact, same });
  }
  if (error) payload.push({ field: "error", text: span.status?.message ?? "", json: false });
  for (const { field, kept } of fields) payload.push({ field, ...kept });

  const parent = hex(span.parentSpanId);
  const operation = operationOf((key) => values.get(key)?.kept.text);
  const startedAt = span.startTimeUnixNano;
  const lasted = span.endTimeUnixNano > startedAt ? span.endTimeUnixNano - startedAt : 0n;
  return {
    traceId: hex(span.traceId),
    outermost: parent === "" ? "yes" : (span.flags & REMOTE_PARENT) === REMOTE_PARENT ? "here" : "no",
    source: previewOf(textOf(resource?.attributes, "service.name"), MAX_NAME),
    facts: {
      span_id: hex(span.spanId),
      parent_span_id: parent,
      name: previewOf(span.name, MAX_NAME),
      operation: previewOf(operation, MAX_NAME),
      error,
      started_at: new Date(Number(startedAt / 1_000_000n)),
      duration_ms: Number(lasted) / 1e6,
      order: orderOf(startedAt, startedAt + lasted, parent === "", 0, hex(span.spanId)),
      agent_id: word("agentId"),
      agent_name: word("agentName") || previewOf(agentIn(values.get("metadata")?.kept.text), MAX_NAME),
      model: word("model"),
      tool: operation === "" || operation === "execute_tool" ? word("tool") : "",
      input_tokens: tokensIn(word("inputTokens")),
      output_tokens: tokensIn(word("outputTokens")),
      fields: previewsOf(payload),
      field_count: payload.length,
    },
    payload,
  };
}

/** What a span and the parts of it have too much of. */
function excessOf(parts: readonly Pick<MessageShape<typeof SpanSchema>, "attributes">[]): string | undefined {
  const count = parts.reduce((sum, { attributes }) => sum + attributes.length, parts.length);
  if (count > MAX_ATTRIBUTES) return EXCESS.attributes;
  const isLong = parts.some(({ attributes }) => attributes.some(({ key }) => key.length > MAX_KEY));
  return isLong ? EXCESS.key : undefined;
}

/** The field behind a name; undefined where there is none. */
export function fieldOf<F extends KeptField>(
  payload: readonly F[],
  name: string,
): Exclude<F, { readonly same: string }> | undefined {
  const found = payload.find(({ field }) => field === name);
  if (found !== undefined && "same" in found) return fieldOf(payload, found.same);
  return found as Exclude<F, { readonly same: string }> | undefined;
}

/** What was said under another name is not shown a second time. */
function previewsOf(payload: readonly PayloadField[]) {
  const shown = new Set(payload.flatMap((entry) => ("same" in entry ? [entry.same] : [])));
  return payload
    .filter(({ field }) => !shown.has(field))
    .slice(0, MAX_PREVIEWS)
    .map(({ field }) => {
      const { text } = fieldOf(payload, field) as Kept;
      return { field, preview: previewOf(text), bytes: Buffer.byteLength(text) };
    });
}

function textOf(attributes: readonly MessageShape<typeof KeyValueSchema>[] | undefined, key: string): string {
  const found = attributes?.find((attribute) => attribute.key === key);
  return found === undefined ? "" : keptOf(found.value).text;
}

/** The tokens that a text counts; 0 if it counts none. */
export function tokensIn(text: string): number {
  const number = Number(text);
  return Number.isInteger(number) && number > 0 && number <= 0x7fffffff ? number : 0;
}

function isId(bytes: Uint8Array, length: number): boolean {
  return bytes.length === length && bytes.some((byte) => byte !== 0);
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
