import { create, fromBinary, type Message, type MessageShape, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ExportTraceServiceRequestSchema } from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { KeyValueSchema } from "#proto/opentelemetry/proto/common/v1/common_pb.js";
import { Span_EventSchema, SpanSchema, StatusSchema } from "#proto/opentelemetry/proto/trace/v1/trace_pb.js";
import { boundsOf } from "../../../services/shared/rpc/bounds.js";
import type { ReadTrace } from "../../../services/traces/gather.js";
import { CONVENTIONS, ownsTokens } from "../../../services/traces/gen-ai.js";
import "../../../services/shared/rpc/text-encoding.js";
import { checkWire } from "../../../services/shared/rpc/wire.js";
import { misdated, readSpans } from "../../../services/traces/read-spans.js";
import { type ReadSpan, readSpan } from "../../../services/traces/span.js";
import { spansIn } from "./spans.js";
import { wireSpans } from "./wire-spans.js";

// What is found in the bytes of spans is what the messages say: here by way of the messages, span after span.

const KNOWN = ["metadata", ...CONVENTIONS.flatMap(({ keys }) => Object.values(keys).flat())];
const words = fc.oneof(
  fc.constantFrom("chat", "execute_tool", "invoke_agent", "LLM", "TOOL", "ai.toolCall", "", "\ufeffé", "7", "0x10"),
  fc.constant('{"lc_agent_name": "graph"}'),
  fc.string({ unit: "binary", maxLength: 600 }),
);
const value = fc.oneof(
  { weight: 8, arbitrary: words.map((value) => ({ value: { case: "stringValue" as const, value } })) },
  {
    weight: 3,
    arbitrary: fc
      .oneof(fc.bigInt({ min: 0n, max: 300n }), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }))
      .map((value) => ({ value: { case: "intValue" as const, value } })),
  },
  fc.boolean().map((value) => ({ value: { case: "boolValue" as const, value } })),
  fc.double().map((value) => ({ value: { case: "doubleValue" as const, value } })),
  fc.uint8Array({ maxLength: 9 }).map((value) => ({ value: { case: "bytesValue" as const, value } })),
  words.map((text) => ({
    value: {
      case: "arrayValue" as const,
      value: { values: [{ value: { case: "stringValue" as const, value: text } }, {}] },
    },
  })),
  fc.constant({}),
);
const key = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(...KNOWN) },
  fc.string({ unit: "binary", maxLength: 8 }),
  fc.constantFrom("k".repeat(256), "é".repeat(256), "gen_ai.agent.i", "gen_ai.agent.id2"),
);
/** Fields that a later version of OTLP may add, of each wire type. */
const unknown = fc.array(
  fc.tuple(
    fc.integer({ min: 900, max: 70_000 }),
    fc.oneof(
      fc.constantFrom([0], [0x96, 0x01]).map((data) => ({ wireType: 0, data })),
      fc.array(fc.nat({ max: 255 }), { minLength: 8, maxLength: 8 }).map((data) => ({ wireType: 1, data })),
      fc
        .array(fc.nat({ max: 255 }), { maxLength: 127 })
        .map((bytes) => ({ wireType: 2, data: [bytes.length, ...bytes] })),
      fc.array(fc.nat({ max: 255 }), { minLength: 4, maxLength: 4 }).map((data) => ({ wireType: 5, data })),
    ),
  ),
  { maxLength: 2 },
);
type ValueOf<A> = A extends fc.Arbitrary<infer V> ? V : never;

/** Adds them to a message. */
function grown<T extends Message>(message: T, fields: ValueOf<typeof unknown>): T {
  message.$unknown = fields.map(([no, { wireType, data }]) => ({ no, wireType, data: Uint8Array.from(data) }));
  return message;
}
const attributes = (most: number) =>
  fc.array(
    fc
      .tuple(key, fc.option(value, { nil: undefined }), unknown)
      .map(([key, value, more]) => grown(create(KeyValueSchema, { key, ...(value !== undefined && { value }) }), more)),
    { maxLength: most },
  );
const NOW = BigInt(Date.now()) * 1_000_000n;
const time = fc.oneof(fc.bigInt({ min: 0n, max: 5n }), fc.bigInt({ min: 0n, max: 10n ** 12n })).map((n) => NOW - n);
const span = fc
  .record({
    trace: fc.integer({ min: 1, max: 2 }),
    id: fc.integer({ min: 1, max: 250 }),
    parent: fc.constantFrom(0, 0, 8),
    name: words,
    start: time,
    end: time,
    attributes: attributes(8),
    events: fc.array(
      fc
        .record({ name: words, attributes: attributes(3), more: unknown })
        .map(({ more, ...event }) => grown(create(Span_EventSchema, event), more)),
      { maxLength: 2 },
    ),
    status: fc.option(
      fc
        .record({ code: fc.integer({ min: 0, max: 2 }), message: words, more: unknown })
        .map(({ more, ...status }) => grown(create(StatusSchema, status), more)),
      { nil: undefined },
    ),
    flags: fc.constantFrom(0, 0x100, 0x300, 0x301),
    more: unknown,
  })
  .map(({ trace, id, parent, start, end, status, more, ...rest }) =>
    grown(
      create(SpanSchema, {
        ...rest,
        traceId: new Uint8Array(16).fill(trace),
        spanId: new Uint8Array(8).fill(id),
        parentSpanId: new Uint8Array(parent).fill(9),
        startTimeUnixNano: start,
        endTimeUnixNano: end,
        ...(status !== undefined && { status }),
      }),
      more,
    ),
  );
const resourceSpans = fc.array(
  fc.record({
    resource: fc.option(attributes(4), { nil: undefined }),
    spans: fc.array(span, { maxLength: 6 }),
  }),
  { minLength: 1, maxLength: 3 },
);

/** What spans add up to, by their facts. */
function sumsOf(spans: readonly ReadSpan[]) {
  const facts = spans.map((one) => one.facts);
  const inOrder = (some: readonly ReadSpan[]) => [...some].sort((a, b) => (a.facts.order < b.facts.order ? -1 : 1));
  const about = (one: ReadSpan | undefined) =>
    one && {
      name: one.facts.name,
      root: one.facts.span_id,
      fields: one.facts.fields.filter(({ field }) => ["input", "output", "error"].includes(field)),
    };
  const [first] = inOrder(spans);
  const withInput = inOrder(spans).find(({ facts: { fields } }) =>
    fields.some(({ field }) => field === "input"),
  )?.facts;
  const own = facts.filter(({ operation }) => ownsTokens(operation));
  const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);
  const set = (names: readonly string[]) => new Set(names.filter((name) => name !== ""));
  return {
    spans: facts.length,
    errors: facts.filter(({ error }) => error).length,
    inputTokens: sum(own.map(({ input_tokens }) => input_tokens)),
    outputTokens: sum(own.map(({ output_tokens }) => output_tokens)),
    agents: new Set(
      facts.flatMap(({ agent_id: id, agent_name: name }) => (id + name === "" ? [] : [JSON.stringify({ id, name })])),
    ),
    sources: set(spans.map(({ source }) => source)),
    models: set(facts.map(({ model }) => model)),
    tools: set(facts.map(({ tool }) => tool)),
    name: first!.facts.name,
    startedAt: first!.facts.started_at.getTime(),
    endedAt: Math.max(...facts.map(({ started_at, duration_ms }) => started_at.getTime() + duration_ms)),
    root: about(spans.find(({ outermost }) => outermost === "yes")),
    local: about(inOrder(spans.filter(({ outermost }) => outermost === "here"))[0]),
    firstInput: withInput && {
      ...withInput.fields.find(({ field }) => field === "input"),
      span_id: withInput.span_id,
      order: withInput.order,
    },
  };
}

const told = ({ gist: { agents, sources, models, tools, ...rest } }: ReadTrace) => ({
  ...rest,
  agents: new Set(agents.map(({ id, name }) => JSON.stringify({ id, name }))),
  ...{ sources: new Set(sources), models: new Set(models), tools: new Set(tools) },
});

/** Reads the bytes of an export, and the same by way of its messages. */
function compare(bytes: Uint8Array): void {
  const refused: string[] = [];
  const byTrace = new Map<string, ReadSpan[]>();
  for (const { resource, scopeSpans } of fromBinary(ExportTraceServiceRequestSchema, bytes).resourceSpans) {
    for (const one of scopeSpans.flatMap(({ spans }) => spans)) {
      const read = readSpan(one, resource);
      const refusal = typeof read === "string" ? read : misdatedSpan(one);
      if (typeof read === "string" || refusal !== undefined) {
        refused.push(refusal as string);
        continue;
      }
      const known = byTrace.get(read.traceId) ?? [];
      const isThere = known.some(({ facts }) => facts.span_id === read.facts.span_id);
      byTrace.set(read.traceId, isThere ? known : [...known, read]);
    }
  }
  const { traces, rejects } = readSpans(bytes, DAYS);
  expect([rejects.count, rejects.reasons]).toEqual([refused.length, new Set(refused)]);
  expect(new Map(traces.map((one) => [one.traceId, told(one)]))).toEqual(
    new Map([...byTrace].map(([id, spans]) => [id, sumsOf(spans)])),
  );
  const byId = (spans: readonly ReadSpan[]) => [...spans].sort((a, b) => (a.facts.order < b.facts.order ? -1 : 1));
  for (const one of traces) expect(byId(spansIn([one]))).toEqual(byId(byTrace.get(one.traceId)!));
}

const DAYS = 30;

function misdatedSpan({ startTimeUnixNano: start, endTimeUnixNano: end }: MessageShape<typeof SpanSchema>) {
  return misdated(Number(start / 1_000_000n), end > start ? Number(end - start) / 1e6 : 0, DAYS);
}

test("spans that are read from their bytes add up to what their messages say, and are there whole", () => {
  fc.assert(
    fc.property(resourceSpans, (all) => {
      const request = create(ExportTraceServiceRequestSchema, {
        resourceSpans: all.map(({ resource, spans }) => ({
          ...(resource !== undefined && { resource: { attributes: resource } }),
          scopeSpans: [{ scope: { name: "s" }, spans }],
        })),
      });
      compare(toBinary(ExportTraceServiceRequestSchema, request));
    }),
    { numRuns: 400 },
  );
});

test("so they do when fields come in any order, twice, in more bytes than they need, or are not known", () => {
  fc.assert(
    fc.property(wireSpans(key, words), (bytes) => {
      checkWire(ExportTraceServiceRequestSchema, bytes, boundsOf(ExportTraceServiceRequestSchema));
      compare(bytes);
    }),
    { numRuns: 200 },
  );
});

/** A span, and at its end once more some fields of another one. */
const twice = (first: MessageShape<typeof SpanSchema>, second: Parameters<typeof create<typeof SpanSchema>>[1]) =>
  Buffer.concat([toBinary(SpanSchema, first), toBinary(SpanSchema, create(SpanSchema, second))]);

test("fields that come twice in a span or an attribute are taken as the library takes them", () => {
  const base = {
    traceId: new Uint8Array(16).fill(1),
    spanId: new Uint8Array(8).fill(2),
    startTimeUnixNano: NOW,
    name: "before",
  };
  const ofKey = toBinary(KeyValueSchema, create(KeyValueSchema, { key: "gen_ai.tool.name", value: array("a") }));
  const more = toBinary(KeyValueSchema, create(KeyValueSchema, { value: array("b") }));
  const attribute = Buffer.concat([ofKey, more]);
  const raw = Buffer.concat([
    twice(create(SpanSchema, { ...base, status: { code: 2 } }), {
      name: "after",
      status: { message: "m" },
    }),
    Buffer.from([74, attribute.length]),
    attribute,
  ]);
  const piece = (tag: number, bytes: Uint8Array) =>
    Buffer.concat([Buffer.from([tag, 0x80 | (bytes.length & 0x7f), bytes.length >> 7]), bytes]);
  const { traces } = readSpans(piece(10, piece(18, piece(18, raw))), 30);
  expect(traces[0]!.gist).toMatchObject({ name: "after", errors: 1, tools: ['["a","b"]'] });
  expect(traces[0]!.gist.root!.fields).toEqual([{ field: "error", preview: "m", bytes: 1 }]);
  expect(spansIn(traces)[0]!.facts).toMatchObject({ name: "after", tool: '["a","b"]' });
});

function array(text: string) {
  return {
    value: {
      case: "arrayValue" as const,
      value: { values: [{ value: { case: "stringValue" as const, value: text } }] },
    },
  };
}
