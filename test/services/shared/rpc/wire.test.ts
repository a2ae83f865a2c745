import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RevokeApiKeyRequestSchema } from "#proto/auth/v1/api_key_service_pb.js";
import { UpdateAgentRequestSchema } from "#proto/core/v1/agent_service_pb.js";
import { ExportTraceServiceRequestSchema } from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { boundsOf } from "../../../../services/shared/rpc/bounds.js";
import { checkWire, checkWireBegun } from "../../../../services/shared/rpc/wire.js";

const SHAPE = { elements: 1_000, depth: 8 };

function codeOf(run: () => void): Code | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    return error instanceof ConnectError ? error.code : Code.Unknown;
  }
}

/** A first field of a text. */
const ofText = (value: Buffer) =>
  Buffer.concat([Uint8Array.from([0x0a, 0x80 | (value.length & 0x7f), value.length >> 7]), value]);

describe("what is made of too much is refused before it is decoded", () => {
  const empty = Buffer.alloc(4 << 20);
  for (let i = 0; i < empty.length; i += 2) empty[i] = 0x0a;

  test("two million empty messages", () => {
    const bounds = boundsOf(ExportTraceServiceRequestSchema);
    expect(codeOf(() => checkWire(ExportTraceServiceRequestSchema, empty, bounds))).toBe(Code.ResourceExhausted);
  });

  test("seen as soon as so much of it has come, however deep it lies", () => {
    const bounds = boundsOf(ExportTraceServiceRequestSchema);
    const check = (bytes: Uint8Array) => codeOf(() => checkWireBegun(ExportTraceServiceRequestSchema, bytes, bounds));
    expect(check(empty.subarray(0, 2 * bounds.elements))).toBe(undefined);
    expect(check(empty.subarray(0, 2 * bounds.elements + 2))).toBe(Code.ResourceExhausted);
    // Inside of resource_spans, of which more is announced than has come.
    const inside = Buffer.concat([Uint8Array.from([0x0a, 0x80, 0x80, 0x80, 0x02]), empty.subarray(0, 200_000)]);
    for (let i = 5; i < inside.length; i += 2) inside[i] = 0x12;
    expect(check(inside)).toBe(Code.ResourceExhausted);
  });

  test("seen behind a text that is none", () => {
    const bounds = boundsOf(ExportTraceServiceRequestSchema);
    // The schema_url of resource_spans, which may be cut in a character.
    const text = Buffer.concat([Uint8Array.from([0x0a, 3, 0x1a, 1, 0xc3]), empty.subarray(0, 2 * bounds.elements)]);
    expect(codeOf(() => checkWire(ExportTraceServiceRequestSchema, text.subarray(0, 5), bounds))).toBe(
      Code.InvalidArgument,
    );
    expect(codeOf(() => checkWireBegun(ExportTraceServiceRequestSchema, text, bounds))).toBe(Code.ResourceExhausted);
  });

  test("texts are UTF-8, however long", () => {
    for (const length of [1, 63, 64, 65, 200]) {
      const bytes = Buffer.alloc(length, "x");
      const checked = (value: Buffer) => codeOf(() => checkWire(RevokeApiKeyRequestSchema, ofText(value), SHAPE));
      expect(checked(bytes)).toBe(undefined);
      for (const wrong of [0, length - 1]) {
        const broken = Buffer.from(bytes);
        broken[wrong] = 0xc3;
        expect(checked(broken)).toBe(Code.InvalidArgument);
      }
      expect(checked(Buffer.concat([bytes.subarray(1), Buffer.from("é")]))).toBe(undefined);
    }
  });

  test("fields that are not known count too", () => {
    const unknown = Buffer.alloc(4_000);
    for (let i = 0; i < unknown.length; i += 2) unknown[i] = 0x78;
    expect(codeOf(() => checkWire(RevokeApiKeyRequestSchema, unknown, SHAPE))).toBe(Code.ResourceExhausted);
  });

  test("depth", () => {
    let value: object = { value: { case: "stringValue", value: "x" } };
    for (let i = 0; i < 10; i++) value = { value: { case: "arrayValue", value: { values: [value] } } };
    const attributes = [{ key: "deep", value }];
    const bytes = toBinary(
      ExportTraceServiceRequestSchema,
      create(ExportTraceServiceRequestSchema, { resourceSpans: [{ scopeSpans: [{ spans: [{ attributes }] }] }] }),
    );
    expect(codeOf(() => checkWire(ExportTraceServiceRequestSchema, bytes, SHAPE))).toBe(Code.ResourceExhausted);
    expect(codeOf(() => checkWire(ExportTraceServiceRequestSchema, bytes, { ...SHAPE, depth: 40 }))).toBe(undefined);
  });
});

describe("what the decoder would trip over is found before", () => {
  test.each([
    ["a length beyond the end", [0x0a, 5, 0x61]],
    ["a tag that is cut off", [0x8a]],
    ["a field of number 0", [0x02, 0]],
    ["a wire type that there is not", [0x0f, 0]],
    ["a group", [0x0b, 0x0c]],
    ["a text as a number", [0x08, 1]],
    ["text that is not UTF-8", [0x0a, 1, 0xff]],
    ["a varint without an end", [0x78, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]],
    ["a fixed number that is cut off", [0x79, 1, 2]],
  ])("%s", (_what, bytes) => {
    expect(codeOf(() => checkWire(RevokeApiKeyRequestSchema, Uint8Array.from(bytes), SHAPE))).toBe(
      Code.InvalidArgument,
    );
  });

  // Every type of field that our requests have.
  const schemas = [ExportTraceServiceRequestSchema, UpdateAgentRequestSchema];

  test("whatever passes has passed while it came", () => {
    const spans = Array.from({ length: 5 }, (_, at) => ({ name: `span ${at}`, attributes: [{ key: "k" }] }));
    const bytes = toBinary(
      ExportTraceServiceRequestSchema,
      create(ExportTraceServiceRequestSchema, { resourceSpans: [{ scopeSpans: [{ spans }] }] }),
    );
    for (let end = 0; end <= bytes.length; end++) {
      checkWireBegun(ExportTraceServiceRequestSchema, bytes.subarray(0, end), { elements: 30, depth: 8 });
    }
  });

  test("whatever passes decodes", () => {
    const sample = toBinary(
      ExportTraceServiceRequestSchema,
      create(ExportTraceServiceRequestSchema, {
        resourceSpans: [
          {
            resource: { attributes: [{ key: "service.name", value: { value: { case: "stringValue", value: "é" } } }] },
            scopeSpans: [{ spans: [{ traceId: new Uint8Array(16), startTimeUnixNano: 1n, flags: 3, name: "n" }] }],
          },
        ],
      }),
    );
    const mutated = fc
      .array(fc.tuple(fc.nat(sample.length - 1), fc.nat(255)), { maxLength: 4 })
      .map((changes) => changes.reduce((bytes, [at, byte]) => bytes.with(at, byte), sample));
    fc.assert(
      fc.property(fc.oneof(mutated, fc.uint8Array({ maxLength: 40 })), fc.constantFrom(...schemas), (bytes, schema) => {
        if (codeOf(() => checkWire(schema, bytes, SHAPE)) === undefined) fromBinary(schema, bytes);
      }),
      { numRuns: 5_000, seed: 8 },
    );
  });
});
