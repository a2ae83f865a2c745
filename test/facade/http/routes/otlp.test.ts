import { createRequire } from "node:module";
import { connect as connectSocket } from "node:net";
import { gzipSync } from "node:zlib";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from "@opentelemetry/sdk-trace-base";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  ExportLogsServiceRequestSchema,
  ExportLogsServiceResponseSchema,
  LogsService,
} from "#proto/opentelemetry/proto/collector/logs/v1/logs_service_pb.js";
import {
  type ExportTraceServiceRequest,
  ExportTraceServiceRequestSchema,
  ExportTraceServiceResponseSchema,
  TraceService,
} from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { createShares } from "../../../../services/shared/limits/shares.js";
import { silentLog } from "../../../../services/shared/process/log.js";
import { mountInProcess } from "../../../../services/shared/rpc/in-process.js";
import { unary } from "../../../../services/shared/rpc/method.js";
import { unreadOf } from "../../../../services/shared/rpc/unread.js";
import { exportOf } from "../../../services/traces/spans.js";
import { titled } from "../../../support/titled.js";
import { createKeys, type Keys } from "../../support/credentials.js";
import { MANY, type Started, start } from "../../support/start.js";

const PROTOBUF = "application/x-protobuf";
const JSON_TYPE = "application/json";
const SPANS = exportOf("my-agent", [{ name: "one", trace: "0af7651916cd43dd8448eb211c80319c" }]);
const BINARY = toBinary(ExportTraceServiceRequestSchema, SPANS);

type Answer = MessageInitShape<typeof ExportTraceServiceResponseSchema>;

const keys: Keys = createKeys();
let server: Started;
let taken: ExportTraceServiceRequest[];
let answer: () => Answer;

async function serve(limits: { perSecond: number; burst: number } = MANY): Promise<Started> {
  const method = unary(TraceService.method.export, (request) => {
    // A long one is handed on unread.
    const unread = unreadOf(request);
    taken.push(
      unread === undefined
        ? (request as ExportTraceServiceRequest)
        : fromBinary(ExportTraceServiceRequestSchema, unread.bytes),
    );
    return answer();
  });
  return start({
    credentials: keys,
    dispatch: mountInProcess([method], { authenticator: keys.authenticator, log: silentLog }),
    shares: createShares({ perKey: limits, perUser: limits }),
  });
}

beforeAll(async () => {
  keys.add("agent", { scopes: new Set(["traces:write"]) });
  keys.add("reader", { scopes: new Set(["core:read"]) });
  server = await serve();
});
afterAll(() => server.close());
beforeEach(() => {
  taken = [];
  answer = () => ({});
});

async function send(body: string | Uint8Array, headers: Record<string, string> = {}, to = server) {
  const reply = await fetch(`${to.url}/v1/traces`, {
    method: "POST",
    headers: { "content-type": PROTOBUF, authorization: "Bearer agent", ...headers },
    body: body as string,
  });
  return { status: reply.status, headers: reply.headers, bytes: new Uint8Array(await reply.arrayBuffer()) };
}

/** A google.rpc.Status, read by hand: its code, and its sentence. */
function statusIn(bytes: Uint8Array): { code: number | undefined; message: string } {
  expect([bytes[0], bytes[2]]).toEqual([0x08, 0x12]);
  const from = (bytes[3] as number) < 0x80 ? 4 : 5;
  return { code: bytes[1], message: Buffer.from(bytes.subarray(from)).toString() };
}

describe("taken is", () => {
  const json = JSON.stringify({
    resourceSpans: [{ scopeSpans: [{ spans: [{ traceId: "0AF7651916CD43DD8448EB211C80319C", name: "one" }] }] }],
  });
  test.each([
    ["protobuf", BINARY, {}],
    ["protobuf in gzip", gzipSync(BINARY), { "content-encoding": "gzip" }],
    ["JSON", json, { "content-type": JSON_TYPE }],
    ["JSON in gzip", gzipSync(json), { "content-type": JSON_TYPE, "content-encoding": "gzip" }],
  ])("%s, and answered in kind", async (_what, body, headers: Record<string, string>) => {
    const reply = await send(body, headers);
    expect(reply.status).toBe(200);
    expect(reply.headers.get("content-type")).toBe(headers["content-type"] ?? PROTOBUF);
    expect(Buffer.from(reply.bytes).toString()).toBe(headers["content-type"] === JSON_TYPE ? "{}" : "");
    const span = taken[0]?.resourceSpans[0]?.scopeSpans[0]?.spans[0];
    expect([Buffer.from(span?.traceId ?? []).toString("hex"), span?.name]).toEqual([
      "0af7651916cd43dd8448eb211c80319c",
      "one",
    ]);
  });

  test("a part of what was sent, which the answer says", async () => {
    answer = () => ({ partialSuccess: { rejectedSpans: 1n, errorMessage: "a span has no start time" } });
    const reply = await send(BINARY);
    expect(reply.status).toBe(200);
    const { partialSuccess } = fromBinary(ExportTraceServiceResponseSchema, reply.bytes);
    expect(partialSuccess).toMatchObject({ rejectedSpans: 1n, errorMessage: "a span has no start time" });
  });
});

test.each(["none", "gzip"])(
  "of 17 MiB, coding %s, the spans that fit are taken and the rest is counted",
  async (coding) => {
    const text = "x".repeat(1 << 20);
    const spans = Array.from({ length: 17 }, (_, n) => ({ name: `${n}`, attributes: { text } }));
    const body = toBinary(ExportTraceServiceRequestSchema, exportOf("big", spans));
    const reply =
      coding === "gzip" ? await send(gzipSync(body, { level: 1 }), { "content-encoding": "gzip" }) : await send(body);
    expect(reply.status).toBe(200);
    const { partialSuccess } = fromBinary(ExportTraceServiceResponseSchema, reply.bytes);
    expect(partialSuccess?.rejectedSpans).toBe(2n);
    expect(partialSuccess?.errorMessage).toBe("an export has at most 16777216 bytes: send fewer spans at once");
    expect(taken[0]?.resourceSpans[0]?.scopeSpans[0]?.spans.map(({ name }) => name).join()).toBe(
      Array.from({ length: 15 }, (_, n) => n).join(),
    );
  },
);

describe("refused is", () => {
  // A field that nobody knows, of 65 MiB.
  const bomb = gzipSync(Buffer.concat([Buffer.from([0x7a, 0x80, 0x80, 0xc0, 0x20]), Buffer.alloc(65 << 20)]));
  test.each([
    ["no key", BINARY, { authorization: "" }, 401, 16],
    ["a key that is none", BINARY, { authorization: "Bearer nothing" }, 401, 16],
    ["a key without traces:write", BINARY, { authorization: "Bearer reader" }, 403, 7],
    ["a web page of elsewhere", BINARY, { origin: "https://evil.example" }, 403, 7],
    ["half a message", BINARY.subarray(0, 9), {}, 400, 3],
    ["another coding", BINARY, { "content-encoding": "br" }, 415, 12],
    ["a bomb", bomb, { "content-encoding": "gzip" }, 413, 8],
    ["more than is read", new Uint8Array(65 << 20), {}, 413, 8],
  ])("%s, with a google.rpc.Status", async (_what, body, headers, status, code) => {
    const reply = await send(body, headers as unknown as Record<string, string>);
    expect([reply.status, reply.headers.get("content-type")]).toEqual([status, PROTOBUF]);
    expect(statusIn(reply.bytes)).toEqual({ code, message: expect.stringMatching(/\w+ \w+/) });
    expect(taken).toEqual([]);
  });

  test("the same of JSON in JSON, and of another media type too", async () => {
    for (const [type, status, code] of [
      [JSON_TYPE, 400, 3],
      ["text/plain", 415, 12],
    ] as const) {
      const reply = await send("{", { "content-type": type });
      expect([reply.status, reply.headers.get("content-type")]).toEqual([status, JSON_TYPE]);
      expect(JSON.parse(Buffer.from(reply.bytes).toString())).toEqual({ code, message: expect.any(String) });
    }
  });

  test("another method", async () => {
    const reply = await fetch(`${server.url}/v1/traces`, { headers: { authorization: "Bearer agent" } });
    expect([reply.status, reply.headers.get("allow")]).toEqual([405, "POST"]);
  });
});

describe("to be sent again later is", () => {
  test("one more than the key has, with when", async () => {
    const narrow = await serve({ perSecond: 0.1, burst: 1 });
    expect((await send(BINARY, {}, narrow)).status).toBe(200);
    const reply = await send(BINARY, {}, narrow);
    await narrow.close();
    expect([reply.status, statusIn(reply.bytes).code]).toEqual([429, 8]);
    expect(Number(reply.headers.get("retry-after"))).toBeGreaterThan(1);
  });

  test("what the service cannot take now, and what nobody can vouch for", async () => {
    answer = () => {
      throw new ConnectError("the store does not answer", 14);
    };
    const down = await send(BINARY);
    expect([down.status, statusIn(down.bytes), down.headers.get("retry-after")]).toEqual([
      503,
      { code: 14, message: "the store does not answer" },
      "5",
    ]);
    keys.refuse("unknown", "unavailable");
    const unknown = await send(BINARY, { authorization: "Bearer unknown" });
    expect([unknown.status, unknown.headers.get("retry-after")]).toEqual([503, "2"]);
  });
});

test("a fault of ours says nothing of itself", async () => {
  answer = () => {
    throw new Error("a secret");
  };
  const reply = await send(BINARY);
  expect([reply.status, statusIn(reply.bytes)]).toEqual([500, { code: 2, message: "internal error" }]);
});

test("who may not send any is refused before the body is read", async () => {
  const { port, pathname } = new URL(`${server.url}/v1/traces`);
  const socket = connectSocket(Number(port), "127.0.0.1");
  let told = "";
  socket.on("data", (data) => {
    told += data;
  });
  socket.write(
    `POST ${pathname} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: ${PROTOBUF}\r\nauthorization: Bearer bad\r\n` +
      "content-length: 60000\r\n\r\nx",
  );
  await expect.poll(() => told, { timeout: 4_000 }).toMatch(/^HTTP\/1.1 401[\s\S]*www-authenticate: Bearer/);
  socket.destroy();
});

type Exporters = { readonly OTLPTraceExporter: new (options: object) => SpanExporter };

const missing = (name: string): string | undefined => {
  try {
    createRequire(import.meta.url).resolve(name);
    return undefined;
  } catch {
    return `${name} is not installed`;
  }
};

describe.each(["@opentelemetry/exporter-trace-otlp-proto", "@opentelemetry/exporter-trace-otlp-http"])("%s", (name) => {
  const title = titled("exports, compression %s", missing(name));
  test.skipIf(missing(name) !== undefined).each(["none", "gzip"])(title, async (compression) => {
    const { OTLPTraceExporter } = (await import(name)) as Exporters;
    const headers = { authorization: "Bearer agent" };
    const exporter = new OTLPTraceExporter({ url: `${server.url}/v1/traces`, headers, compression });
    const provider = new BasicTracerProvider({
      resource: resourceFromAttributes({ "service.name": "sdk" }),
      spanProcessors: [new BatchSpanProcessor(exporter)],
    });
    provider.getTracer("test").startSpan("from an SDK").end();
    await provider.shutdown();
    const spans = taken.flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap((r) => r.scopeSpans.flatMap((s) => s.spans)),
    );
    expect(spans.map((span) => [span.name, span.traceId.length])).toEqual([["from an SDK", 16]]);
  });
});

describe("events in log records", () => {
  const TRACE = "0af7651916cd43dd8448eb211c80319c";
  const record = { eventName: "gen_ai.choice", timeUnixNano: 5n, traceId: Buffer.from(TRACE, "hex") };
  const LOGS = toBinary(
    ExportLogsServiceRequestSchema,
    create(ExportLogsServiceRequestSchema, { resourceLogs: [{ scopeLogs: [{ logRecords: [record] }] }] }),
  );
  const jsonRecord = { eventName: "gen_ai.choice", timeUnixNano: "5", traceId: TRACE };
  const JSON_LOGS = JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [jsonRecord] }] }] });
  const got: string[] = [];
  let logs: Started;
  beforeAll(async () => {
    const method = unary(LogsService.method.export, ({ resourceLogs }) => {
      const [{ eventName, traceId }] = resourceLogs[0]!.scopeLogs[0]!.logRecords as never as [typeof record];
      got.push(`${eventName} ${Buffer.from(traceId).toString("hex")}`);
      return { partialSuccess: { rejectedLogRecords: 1n, errorMessage: "one" } };
    });
    logs = await start({
      credentials: keys,
      dispatch: mountInProcess([method], { authenticator: keys.authenticator, log: silentLog }),
    });
  });
  afterAll(() => logs.close());

  const post = (body: string | Uint8Array, headers: Record<string, string> = {}) =>
    fetch(`${logs.url}/v1/logs`, {
      method: "POST",
      headers: { "content-type": PROTOBUF, authorization: "Bearer agent", ...headers },
      body: body as string,
    });

  test.each<[string, string | Uint8Array, Record<string, string>]>([
    ["protobuf", LOGS, {}],
    ["packed protobuf", gzipSync(LOGS), { "content-encoding": "gzip" }],
    ["JSON", JSON_LOGS, { "content-type": JSON_TYPE }],
    ["packed JSON", gzipSync(JSON_LOGS), { "content-type": JSON_TYPE, "content-encoding": "gzip" }],
  ])("are taken as %s", async (_name, body, headers) => {
    got.length = 0;
    const reply = await post(body, headers);
    expect(reply.status).toBe(200);
    expect(got).toEqual([`gen_ai.choice ${TRACE}`]);
    const said = new Uint8Array(await reply.arrayBuffer());
    if (headers["content-type"] === JSON_TYPE)
      expect(JSON.parse(Buffer.from(said).toString())).toEqual({
        partialSuccess: { rejectedLogRecords: "1", errorMessage: "one" },
      });
    else expect(fromBinary(ExportLogsServiceResponseSchema, said).partialSuccess?.errorMessage).toBe("one");
  });

  test.each<[string, string | Uint8Array, Record<string, string>, number, RegExp]>([
    ["without a key", LOGS, { authorization: "" }, 401, /bearer/i],
    ["by who may not", LOGS, { authorization: "Bearer reader" }, 403, /traces:write/],
    ["in another media type", LOGS, { "content-type": "text/plain" }, 415, /media type/],
    ["as what is not JSON", "{", { "content-type": JSON_TYPE }, 400, /not JSON/],
    [
      "with ids that are not hexadecimal",
      JSON_LOGS.replace(TRACE, "xyz"),
      { "content-type": JSON_TYPE },
      400,
      /hexadecimal/,
    ],
    [
      "that unpack to too much",
      gzipSync(Buffer.alloc(5 << 20)),
      { "content-encoding": "gzip" },
      413,
      /fewer log records/,
    ],
    ["that are too long", Buffer.alloc(5 << 20), {}, 413, /fewer log records/],
  ])("are refused %s", async (_name, body, headers, status, words) => {
    got.length = 0;
    const reply = await post(body, headers);
    expect([reply.status, got]).toEqual([status, []]);
    expect(await reply.text()).toMatch(words);
  });
});
