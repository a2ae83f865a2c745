import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  ExportLogsServiceRequestSchema,
  LogsService,
} from "#proto/opentelemetry/proto/collector/logs/v1/logs_service_pb.js";
import { TraceService } from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import type { LogRecordSchema } from "#proto/opentelemetry/proto/logs/v1/logs_pb.js";
import { TraceInspectionService } from "#proto/traces/v1/trace_inspection_service_pb.js";
import { as, type Rig } from "../core-objects/rig.js";
import { startTraces } from "./rig.js";
import { exportOf, newSpanId, newTraceId } from "./spans.js";

// Events of the GenAI conventions, in log records: what a model read and wrote is shown with its span.

let rig: Rig;
beforeAll(async () => {
  rig = await startTraces(30);
});
afterAll(() => rig.close());

const { inspectAgentTraces, getTracePayload } = TraceInspectionService.method;
const bytes = (id: string): Uint8Array => Uint8Array.from(Buffer.from(id, "hex"));
const text = (value: string) => ({ value: { case: "stringValue" as const, value } });
const content = (said: string) => ({
  value: { case: "kvlistValue" as const, value: { values: [{ key: "content", value: text(said) }] } },
});

function record(trace: string, span: string, name: string, more: MessageInitShape<typeof LogRecordSchema> = {}) {
  const timeUnixNano = BigInt(Date.now()) * 1_000_000n;
  return { traceId: bytes(trace), spanId: bytes(span), eventName: name, timeUnixNano, ...more };
}
const logs = (who: string, logRecords: MessageInitShape<typeof LogRecordSchema>[]) =>
  rig.dispatch.unary(
    LogsService.method.export,
    create(ExportLogsServiceRequestSchema, {
      resourceLogs: [
        {
          resource: { attributes: [{ key: "service.name", value: text("talks") }] },
          scopeLogs: [{ logRecords }],
        },
      ],
    }),
    as(who, "traces"),
  );
const spans = (who: string, trace: string, id: string) => {
  const attributes = { "gen_ai.operation.name": "chat", "gen_ai.request.model": "m-1", "gen_ai.usage.input_tokens": 9 };
  const sent = exportOf("talks", [{ trace, id, name: "chat m-1", attributes }]);
  return rig.dispatch.unary(TraceService.method.export, sent, as(who, "traces"));
};
const inspected = async (who: string, traceId: string) => {
  const answer = await rig.dispatch.unary(inspectAgentTraces, { traceId }, as(who, "traces"));
  return { trace: answer.traces[0]!, spans: answer.spans };
};
const payload = async (who: string, traceId: string, spanId: string, field: string) =>
  (await rig.dispatch.unary(getTracePayload, { traceId, spanId, field }, as(who, "traces"))).text;

test.each(["spans first", "logs first"])("events are shown below the span that they name: %s", async (order) => {
  const [trace, span] = [newTraceId(), newSpanId()];
  const events = [
    record(trace, span, "gen_ai.user.message", { body: content("Is web-1 safe?") }),
    // Senders of before OTLP 1.5 name events in an attribute.
    record(trace, span, "", {
      attributes: [{ key: "event.name", value: text("gen_ai.choice") }],
      body: content("It is."),
    }),
  ];
  const send = [() => spans("alice", trace, span), () => logs("alice", events)];
  for (const one of order === "spans first" ? send : send.reverse())
    expect(await one()).not.toHaveProperty("partialSuccess.errorMessage");
  const found = await inspected("alice", trace);
  expect(found.trace.name).toBe("chat m-1");
  const own = found.spans.find(({ name }) => name === "chat m-1")!;
  const below = found.spans.filter(({ parentSpanId }) => parentSpanId === own.spanId);
  expect(below.map(({ name, operation }) => [name, operation])).toEqual([
    ["gen_ai.user.message", "event"],
    ["gen_ai.choice", "event"],
  ]);
  expect(await payload("alice", trace, below[0]!.spanId, "input")).toBe('{"content":"Is web-1 safe?"}');
  expect(await payload("alice", trace, below[1]!.spanId, "output")).toBe('{"content":"It is."}');
  // Its span has the tokens; and the first thing that was said is what the trace is about.
  expect(found.trace.inputTokens).toBe(9);
  expect(await payload("alice", trace, "", "input")).toBe('{"content":"Is web-1 safe?"}');
});

test("a whole call in one event has its input and output there, and its tokens are not counted twice", async () => {
  const [trace, span] = [newTraceId(), newSpanId()];
  const attributes = [
    { key: "gen_ai.input.messages", value: text('[{"role":"user"}]') },
    { key: "gen_ai.output.messages", value: text('[{"role":"assistant"}]') },
    { key: "gen_ai.usage.input_tokens", value: { value: { case: "intValue" as const, value: 9n } } },
  ];
  await spans("alice", trace, span);
  await logs("alice", [record(trace, span, "gen_ai.client.inference.operation.details", { attributes })]);
  const found = await inspected("alice", trace);
  expect(found.trace.inputTokens).toBe(9);
  const event = found.spans.find(({ name }) => name.startsWith("gen_ai."))!;
  expect(await payload("alice", trace, event.spanId, "output")).toBe('[{"role":"assistant"}]');
});

test("a delivery that is repeated changes nothing, and nobody else reads it", async () => {
  const [trace, span] = [newTraceId(), newSpanId()];
  const events = [record(trace, span, "gen_ai.user.message", { body: content("Once.") })];
  await spans("alice", trace, span);
  await logs("alice", events);
  const before = await inspected("alice", trace);
  await logs("alice", events);
  expect(await inspected("alice", trace)).toEqual(before);
  await expect(inspected("bob", trace)).rejects.toThrow(/no trace that you can read/);
});

test("records that are no such events are counted, each with the reason", async () => {
  const trace = newTraceId();
  const old = BigInt(Date.now() - 40 * 86_400_000) * 1_000_000n;
  const { partialSuccess } = await logs("alice", [
    record(trace, newSpanId(), "http.request"),
    record("", "", "gen_ai.choice"),
    record("0a", newSpanId(), "gen_ai.choice"),
    record(trace, newSpanId(), "gen_ai.choice", { timeUnixNano: old }),
    record(trace, "0a", "gen_ai.choice"),
  ]);
  expect(partialSuccess?.rejectedLogRecords).toBe(5n);
  const said = partialSuccess!.errorMessage.split("; ");
  expect(said).toEqual([
    "only events of the GenAI conventions are kept: their names begin with gen_ai.",
    "a log record names no trace: send it while its span is active",
    "a trace_id is not 16 bytes or all zero",
    expect.stringMatching(/^a log record began more than 30 days ago/),
    expect.stringContaining("span_id is not 8 bytes"),
  ]);
});

test("who may not send spans may not send events", async () => {
  await expect(logs("reader", [])).rejects.toThrow(/traces:write/);
});
