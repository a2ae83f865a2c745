import { create, type MessageInitShape } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type AnyValueSchema, KeyValueSchema } from "#proto/opentelemetry/proto/common/v1/common_pb.js";
import { ResourceSchema } from "#proto/opentelemetry/proto/resource/v1/resource_pb.js";
import { SpanSchema } from "#proto/opentelemetry/proto/trace/v1/trace_pb.js";
import { CONVENTIONS } from "../../../services/traces/gen-ai.js";
import { MAX_PREVIEW_CHARS } from "../../../services/traces/preview.js";
import { fieldOf, readSpan } from "../../../services/traces/span.js";

type Any = MessageInitShape<typeof AnyValueSchema>;

const { any } = fc.letrec<{ any: Any }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    fc.constant({}),
    fc.string({ unit: "binary", maxLength: 1200 }).map((value): Any => ({ value: { case: "stringValue", value } })),
    fc.boolean().map((value): Any => ({ value: { case: "boolValue", value } })),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value): Any => ({ value: { case: "intValue", value } })),
    fc.double().map((value): Any => ({ value: { case: "doubleValue", value } })),
    fc.uint8Array().map((value): Any => ({ value: { case: "bytesValue", value } })),
    fc.array(tie("any")).map((values): Any => ({ value: { case: "arrayValue", value: { values } } })),
    fc
      .array(fc.record({ key: fc.string(), value: tie("any") }))
      .map((values): Any => ({ value: { case: "kvlistValue", value: { values } } })),
  ),
}));
const known = CONVENTIONS.flatMap(({ keys }) => Object.values(keys).flat());
const key = fc.oneof(fc.constantFrom(...known, "__proto__", "constructor", "", "a.$b"), fc.string({ maxLength: 20 }));
const attributes = fc.array(
  fc.record({ key, value: any }).map((entry) => create(KeyValueSchema, entry)),
  { maxLength: 80 },
);
const nanos = fc.bigInt({ min: 1n, max: 2n ** 64n - 1n });

test("whatever a span holds is read: every field has a bounded preview and is there whole", () => {
  fc.assert(
    fc.property(attributes, attributes, fc.string(), nanos, nanos, (own, resource, name, start, end) => {
      const read = readSpan(
        create(SpanSchema, {
          traceId: new Uint8Array(16).fill(1),
          spanId: new Uint8Array(8).fill(2),
          name,
          startTimeUnixNano: start,
          endTimeUnixNano: end,
          attributes: own,
          events: [{ name: "e", attributes: own.slice(0, 3) }],
        }),
        create(ResourceSchema, { attributes: resource }),
      );
      if (typeof read === "string") throw new Error(read);
      expect(read.facts.field_count).toBe(read.payload.length);
      expect(read.facts.duration_ms).toBeGreaterThanOrEqual(0);
      expect(read.facts.input_tokens).toBeGreaterThanOrEqual(0);
      for (const { field, preview, bytes } of read.facts.fields) {
        const { text } = fieldOf(read.payload, field)!;
        expect([...preview].length).toBeLessThanOrEqual(MAX_PREVIEW_CHARS);
        expect(text.startsWith(preview)).toBe(true);
        expect(bytes).toBe(Buffer.byteLength(text));
      }
      for (const entry of read.payload) {
        const kept = fieldOf(read.payload, entry.field)!;
        if (kept.json) expect(() => JSON.parse(kept.text)).not.toThrow();
      }
    }),
    { numRuns: 500 },
  );
});

test("a span of too many attributes, or of a key that is none, is refused in words", () => {
  const read = (count: number, name: string, resource = 0) =>
    readSpan(
      create(SpanSchema, {
        traceId: new Uint8Array(16).fill(1),
        spanId: new Uint8Array(8).fill(2),
        startTimeUnixNano: 1n,
        attributes: Array.from({ length: count }, (_, i) => ({ key: `${name}${i}` })),
      }),
      create(ResourceSchema, { attributes: Array.from({ length: resource }, (_, i) => ({ key: `r${i}` })) }),
    );
  expect(read(1_000, "a")).toBeTypeOf("object");
  expect(read(2_000, "a")).toContain("more than 1024 attributes");
  expect(read(600, "a", 600)).toContain("more than 1024 attributes");
  expect(read(1, "k".repeat(300))).toContain("longer than 256");
});
