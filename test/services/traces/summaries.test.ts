import { type DescMessage, fromBinary, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { expect, test } from "vitest";
import { SpanSummarySchema, TraceStatus, TraceSummarySchema } from "#proto/traces/v1/trace_inspection_service_pb.js";
import { compileEncode } from "../../../services/shared/tools/codec/encode.js";
import type { FieldRecord, SpanRecord, TraceRecord } from "../../../services/traces/store.js";
import { spanSummaryOf, traceSummaryOf } from "../../../services/traces/summaries.js";

/** The same message, made by the library. */
function remade<Row extends DescMessage>(schema: Row, row: MessageShape<Row>): MessageShape<Row> {
  return fromBinary(schema, toBinary(schema, row));
}

const NAMES = fc.option(fc.array(fc.string({ maxLength: 20 }), { maxLength: 15 }), { nil: undefined });
const FIELDS = fc.array(
  fc.record({
    field: fc.constantFrom("input", "output", "a.b"),
    preview: fc.string({ maxLength: 500 }),
    bytes: fc.nat(),
  }),
  { maxLength: 12 },
);
const TIMES = fc.date({ min: new Date("1960-01-01"), max: new Date("2100-01-01"), noInvalidDate: true });

const TRACES = fc
  .record({
    ...{ agents: NAMES, external: NAMES, sources: NAMES, models: NAMES, tools: NAMES, user: fc.string() },
    ...{ name: fc.string(), fields: fc.option(FIELDS, { nil: undefined }), started_at: TIMES, ended_at: TIMES },
    ...{ span_count: fc.nat(20_000), error_count: fc.nat(3), input_tokens: fc.nat(2 ** 40), output_tokens: fc.nat() },
    first_input: fc.option(FIELDS, { nil: undefined }),
  })
  .map((record) => ({ ...record, _id: "0123.abc" }) as unknown as TraceRecord);

const SPANS = fc
  .record({
    ...{ span_id: fc.string(), parent_span_id: fc.string(), name: fc.string(), operation: fc.string() },
    ...{ error: fc.boolean(), started_at: TIMES, duration_ms: fc.double({ min: 0, noNaN: true }), fields: FIELDS },
    ...{ agent_id: fc.constantFrom("", "a"), agent_name: fc.constantFrom("", "n"), model: fc.string() },
    ...{ tool: fc.string(), input_tokens: fc.nat(), output_tokens: fc.nat(), field_count: fc.constant(40) },
  })
  .map((record) => record as unknown as SpanRecord);

test("rows are messages as the library makes them, and take as many bytes as they are written in", () => {
  fc.assert(
    fc.property(TRACES, SPANS, fc.nat(500), (trace, span, chars) => {
      const [ofTrace, ofSpan] = [traceSummaryOf(trace, chars), spanSummaryOf(span, chars)];
      expect(ofTrace.row).toStrictEqual(remade(TraceSummarySchema, ofTrace.row));
      expect(ofSpan.row).toStrictEqual(remade(SpanSummarySchema, ofSpan.row));
      expect(ofTrace.bytes).toBe(Buffer.byteLength(compileEncode(TraceSummarySchema)(ofTrace.row)));
      expect(ofSpan.bytes).toBe(Buffer.byteLength(compileEncode(SpanSummarySchema)(ofSpan.row)));
      expect(timestampDate(ofTrace.row.startedAt!)).toEqual(trace.started_at);
    }),
    { numRuns: 300 },
  );
});

test("a row has the first of many names, and how many others there are", () => {
  const names = (of: string) => Array.from({ length: 13 }, (_, n) => `${of}${n}`);
  const field = (name: string): FieldRecord => ({ field: name, preview: "é".repeat(300), bytes: 600 });
  const { row } = traceSummaryOf({
    ...{ _id: "t", trace_id: "t", user: "u", name: "n", order: "", span_count: 3, error_count: 1, batches: [] },
    ...{ started_at: new Date(1_500), ended_at: new Date(4_000), input_tokens: 2 ** 33, output_tokens: 1 },
    ...{ agents: names("a").slice(0, 8), external: names("x").slice(0, 8), sources: names("s"), models: names("m") },
    ...{
      fields: [field("output")],
      first_input: [{ ...field("input"), span_id: "", order: "" }],
      expires_at: new Date(),
    },
  });
  expect(row.agents.map(({ id, name }) => id ?? name)).toEqual([...names("a").slice(0, 8), "x0", "x1"]);
  expect([row.source.split(", "), row.models, row.tools]).toEqual([
    names("s").slice(0, 10),
    names("m").slice(0, 10),
    [],
  ]);
  expect([row.moreNames, row.status, row.durationMs, row.inputTokens]).toEqual([
    12,
    TraceStatus.ERROR,
    2_500,
    0x7fff_ffff,
  ]);
  expect(row.fields.map((one) => [one.field, one.preview.length, one.truncated])).toEqual([
    ["input", 200, true],
    ["output", 200, true],
  ]);
});
