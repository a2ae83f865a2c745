import { gzipSync } from "node:zlib";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import {
  ExportTraceServiceRequestSchema,
  ExportTraceServiceResponseSchema,
} from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { cutExport } from "../../../../facade/http/otlp/cut.js";
import {
  exportAnswer,
  exportFailure,
  type Packing,
  readExport,
  unreadStatus,
} from "../../../../facade/http/otlp/export.js";
import { createExportReader } from "../../../../facade/http/otlp/reader.js";
import { unavailable } from "../../../../services/shared/rpc/errors.js";
import { unreadOf } from "../../../../services/shared/rpc/unread.js";

const TRACE = "5b8efff798038103d269b633813fc60c";
const SPAN = "eee19b7ec3c1b174";
const PROTOBUF = "application/x-protobuf";
const JSON_TYPE = "application/json";

/** As the example of the specification's repository has it, with a field that nobody knows. */
const SAID = {
  resourceSpans: [
    {
      resource: { attributes: [{ key: "service.name", value: { stringValue: "my.service" } }] },
      scopeSpans: [
        {
          spans: [
            {
              traceId: TRACE.toUpperCase(),
              spanId: SPAN,
              parentSpanId: SPAN,
              name: "I'm a server span",
              startTimeUnixNano: "1544712660000000000",
              kind: 2,
              status: { code: 2 },
              links: [{ traceId: TRACE, spanId: SPAN }],
              somethingNew: true,
            },
          ],
        },
      ],
    },
  ],
};
const asJson = (json: unknown) => ({
  contentType: `${JSON_TYPE}; charset=utf-8`,
  bytes: Buffer.from(JSON.stringify(json)),
});
type Body = { readonly contentType: string; readonly bytes: Uint8Array };

/** Bytes as they come over a socket: in pieces that end anywhere. */
async function* inPieces(bytes: Uint8Array, size = 1_000): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
const reader = createExportReader();
const readWhole = ({ contentType, bytes }: Body, packing: Omit<Packing, "contentType"> = {}) =>
  readExport(inPieces(bytes, 1 << 20), { contentType, ...packing }, reader);
/** The export, also where its bytes are handed on unread. */
const read = async (body: Body, packing?: Omit<Packing, "contentType">) => {
  const { request } = await readWhole(body, packing);
  const unread = unreadOf(request);
  return unread === undefined ? request : fromBinary(ExportTraceServiceRequestSchema, unread.bytes);
};
const hex = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString("hex");

test("JSON is read as exporters write it: ids in hexadecimal, enums as numbers, what is new left out", async () => {
  const { resourceSpans } = await read(asJson(SAID));
  const span = resourceSpans[0]?.scopeSpans[0]?.spans[0];
  expect([hex(span?.traceId), hex(span?.spanId), hex(span?.parentSpanId)]).toEqual([TRACE, SPAN, SPAN]);
  expect([hex(span?.links[0]?.traceId), span?.kind, span?.status?.code]).toEqual([TRACE, 2, 2]);
  expect(span?.startTimeUnixNano).toBe(1_544_712_660_000_000_000n);
});

test("protobuf and JSON, plain and gzip, say the same", async () => {
  const said = await read(asJson(SAID));
  const { contentType, bytes } = asJson(SAID);
  const binary = { contentType: PROTOBUF, bytes: toBinary(ExportTraceServiceRequestSchema, said) };
  expect(await read(binary)).toEqual(said);
  expect(await read({ contentType, bytes: gzipSync(bytes) }, { contentEncoding: "gzip" })).toEqual(said);
  expect(await read({ ...binary, bytes: gzipSync(binary.bytes) }, { contentEncoding: " GZIP " })).toEqual(said);
});

describe("refused is", () => {
  const spanOf = (more: object) => asJson({ resourceSpans: [{ scopeSpans: [{ spans: [more] }] }] });
  test.each([
    ["another media type", { contentType: "text/plain", bytes: Buffer.from("") }, "", Code.Unimplemented],
    ["another coding", asJson(SAID), "br", Code.Unimplemented],
    ["gzip that is none", asJson(SAID), "gzip", Code.InvalidArgument],
    [
      "a bomb",
      { contentType: JSON_TYPE, bytes: gzipSync(Buffer.alloc(65 << 20, " ")) },
      "gzip",
      Code.ResourceExhausted,
    ],
    [
      "what is long and no export",
      { contentType: PROTOBUF, bytes: Buffer.alloc(17 << 20, 7) },
      "",
      Code.InvalidArgument,
    ],
    ["half a JSON", { contentType: JSON_TYPE, bytes: Buffer.from('{"resourceSpans":[') }, "", Code.InvalidArgument],
    ["what is not UTF-8", { contentType: JSON_TYPE, bytes: Buffer.from([0x22, 0xff, 0x22]) }, "", Code.InvalidArgument],
    ["JSON of another shape", asJson({ resourceSpans: 3 }), "", Code.InvalidArgument],
    ["JSON that is null", asJson(null), "", Code.InvalidArgument],
    [
      "JSON without a bottom",
      { contentType: JSON_TYPE, bytes: Buffer.from("[".repeat(5_000)) },
      "",
      Code.ResourceExhausted,
    ],
    ["half a message", { contentType: PROTOBUF, bytes: Buffer.from([0x0a, 0x7f]) }, "", Code.InvalidArgument],
    ["an id in base64", spanOf({ traceId: "W47/95gDgQPSabYzgT/GDA==" }), "", Code.InvalidArgument],
  ])("%s", async (_, body, coding, code) => {
    await expect(read(body, { contentEncoding: coding })).rejects.toMatchObject({ code });
  });

  test("what unpacks to more than there is memory for now", async () => {
    const { contentType, bytes } = asJson(SAID);
    let kept = 0;
    const keep = (more: number) => {
      kept += Math.max(0, more);
      return more < 0;
    };
    const reading = read({ contentType, bytes: gzipSync(bytes) }, { contentEncoding: "gzip", keep });
    await expect(reading).rejects.toMatchObject({ code: Code.Unavailable });
    expect(kept).toBe(bytes.byteLength);
  });
});

describe("of an export that is too long", () => {
  const named = (name: string) => ({
    traceId: TRACE,
    spanId: SPAN,
    name,
    attributes: [{ key: '"}]{[\\', value: { stringValue: 'x"}]}'.repeat(40) } }],
  });
  const scopes = (scope: string, ...names: string[]) => ({ scope: { name: scope }, spans: names.map(named) });
  const from = (service: string) => ({ attributes: [{ key: "service.name", value: { stringValue: service } }] });
  const LONG = {
    resourceSpans: [
      { resource: from("a"), scopeSpans: [scopes("one", "1", "2"), scopes("two", "3")], schemaUrl: "u" },
      { resource: from("b"), scopeSpans: [scopes("three", "4", "5", "6")] },
    ],
  };
  const json = Buffer.from(JSON.stringify(LONG));
  const spansOf = ({ resourceSpans }: Awaited<ReturnType<typeof read>>) =>
    resourceSpans.flatMap(({ resource, scopeSpans }) =>
      scopeSpans.flatMap(({ scope, spans }) =>
        spans.map(({ name, attributes }) => [resource?.attributes.length, scope?.name, name, attributes.length].join()),
      ),
    );

  test.each(["json", "protobuf"] as const)(
    "in %s as many whole spans are kept as fit, and the others counted",
    async (encoding) => {
      const contentType = encoding === "json" ? JSON_TYPE : PROTOBUF;
      const whole = await read({ contentType: JSON_TYPE, bytes: json });
      const bytes = encoding === "json" ? json : toBinary(ExportTraceServiceRequestSchema, whole);
      const [all, counts] = [spansOf(whole), new Set<number>()];
      for (let kept = 0; kept <= bytes.length; kept += 3) {
        const passed: number[] = [];
        const count = (size: number, isKept: boolean) => void (isKept || passed.push(size));
        const cut = await cutExport(inPieces(bytes, 1 + (kept % 97)), encoding, count, { kept, read: 1 << 20 });
        expect(cut.bytes.length).toBeLessThanOrEqual(Math.max(kept, 2));
        const found = spansOf(await read({ contentType, bytes: cut.bytes }));
        expect(found).toEqual(all.slice(0, found.length));
        expect(cut.left).toBe(all.length - found.length);
        counts.add(found.length);
      }
      expect([...counts].sort()).toEqual(
        [0, 1, 2, 3, 4, 5].concat(encoding === "json" ? [] : [6]).slice(0, counts.size),
      );
      expect(counts.size).toBeGreaterThanOrEqual(6);
    },
  );
});

test("what cannot be read is not sent again; what there is no room for now is", () => {
  const status = (code: Code) => unreadStatus(new ConnectError("", code));
  expect([Code.Unimplemented, Code.ResourceExhausted, Code.InvalidArgument, Code.Unavailable].map(status)).toEqual([
    415, 413, 400, 503,
  ]);
});

test("answers and failures come in the encoding that was sent", () => {
  const response = create(ExportTraceServiceResponseSchema, {
    partialSuccess: { rejectedSpans: 3n, errorMessage: "a span has no start time" },
  });
  const json = exportAnswer(ExportTraceServiceResponseSchema, response, JSON_TYPE);
  expect(JSON.parse(Buffer.from(json.bytes).toString())).toEqual({
    partialSuccess: { rejectedSpans: "3", errorMessage: "a span has no start time" },
  });
  const binary = exportAnswer(ExportTraceServiceResponseSchema, response, PROTOBUF);
  expect(binary).toEqual({ contentType: PROTOBUF, bytes: toBinary(ExportTraceServiceResponseSchema, response) });

  const failed = unavailable("the store does not answer");
  const told = exportFailure(failed, JSON_TYPE);
  expect(JSON.parse(Buffer.from(told.bytes).toString())).toEqual({
    code: Code.Unavailable,
    message: "the store does not answer",
  });
  expect(exportFailure(failed, "text/plain")).toEqual(told);
  const status = exportFailure(failed, PROTOBUF);
  expect([status.contentType, hex(status.bytes.subarray(0, 4))]).toEqual([PROTOBUF, "080e1219"]);
  expect(Buffer.from(status.bytes.subarray(4)).toString()).toBe("the store does not answer");
});
