import { Code } from "@connectrpc/connect";
import { Metadata } from "@grpc/grpc-js";
import { type Attributes, ROOT_CONTEXT, SpanKind, trace as tracing } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-grpc";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BasicTracerProvider, BatchSpanProcessor, type ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { TraceInspectionService, TraceStatus } from "#proto/traces/v1/trace_inspection_service_pb.js";
import { silentLog } from "../../../services/shared/process/log.js";
import { createTracing } from "../../../services/shared/process/tracing.js";
import { type RpcServer, serveConnect } from "../../../services/shared/rpc/connect.js";
import { createTracesService } from "../../../services/traces/service.js";
import { as, authenticatorFor, type Rig, startRig } from "../core-objects/rig.js";

// Spans as OpenTelemetry's own exporter sends them, over a real gRPC socket.

let rig: Rig;
let server: RpcServer;
let url: string;
beforeAll(async () => {
  rig = await startRig();
  const { store, peers } = rig;
  const traces = await createTracesService({ store, peers, log: silentLog, retentionDays: 30 });
  rig.add(traces);
  const steps = { authenticator: authenticatorFor("traces"), log: silentLog };
  const methods = traces.methods.map((method) => ({ method, steps }));
  server = await serveConnect({ host: "127.0.0.1", port: 0, methods });
  url = `http://127.0.0.1:${server.port}`;
});
afterAll(async () => {
  await server.close(1000);
  await rig.close();
});

const inspect = (who: string, request: object) =>
  rig.dispatch.unary(TraceInspectionService.method.inspectAgentTraces, request, as(who, "traces"));

function exporterOf(key: string): OTLPTraceExporter {
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${key}`);
  // The threads of a long export start from the sources here, which a busy machine takes its time for.
  return new OTLPTraceExporter({ url, metadata, timeoutMillis: 60_000 });
}

function startProvider(key: string, service: string, attributes: Attributes = {}) {
  const resource = resourceFromAttributes({ "service.name": service, ...attributes });
  return new BasicTracerProvider({ resource, spanProcessors: [new BatchSpanProcessor(exporterOf(key))] });
}

test("an agent's spans from OpenTelemetry's exporter are inspected by who manages the agent", async () => {
  const { agent } = await rig.dispatch.unary(AgentService.method.createAgent, { name: "Traced" }, as("alice"));
  const provider = startProvider("key-alice", "my-agent", { "gen_ai.agent.id": agent!.id });
  const tracer = provider.getTracer("test");
  const root = tracer.startSpan("invoke_agent Traced", {
    attributes: { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "Traced" },
  });
  const inside = tracing.setSpan(ROOT_CONTEXT, root);
  const chat = tracer.startSpan("chat m-1", { kind: SpanKind.CLIENT }, inside);
  chat.setAttributes({
    "gen_ai.operation.name": "chat",
    "gen_ai.response.model": "m-1",
    "gen_ai.usage.input_tokens": 12,
    "gen_ai.usage.output_tokens": 3,
    "list.of.numbers": [1, 2, 3],
    "a.double": 0.5,
    "a.bool": true,
  });
  chat.addEvent("gen_ai.client.inference.operation.details", { "gen_ai.input.messages": '[{"role":"user"}]' });
  chat.end();
  root.end();
  await provider.shutdown();

  const { traces } = await inspect("alice", { targetAgentId: agent!.id });
  expect(traces[0]).toMatchObject({
    name: "invoke_agent Traced",
    source: "my-agent",
    agents: [{ id: agent!.id }],
    models: ["m-1"],
    inputTokens: 12,
    outputTokens: 3,
    spanCount: 2,
    status: TraceStatus.OK,
  });
  const { spans } = await inspect("alice", { traceId: traces[0]!.id });
  expect(spans[1]).toMatchObject({
    name: "chat m-1",
    parentSpanId: root.spanContext().spanId,
    operation: "chat",
    agent: { id: agent!.id },
  });
  const read = (field: string) =>
    rig.dispatch.unary(
      TraceInspectionService.method.getTracePayload,
      { traceId: traces[0]!.id, spanId: spans[1]!.spanId, field },
      as("alice", "traces"),
    );
  expect(await read("attributes.list.of.numbers")).toMatchObject({ text: "[1,2,3]", json: true });
  expect(await read("attributes.a.double")).toMatchObject({ text: "0.5", json: false });
  expect((await read("attributes.a.bool")).text).toBe("true");
  expect((await read("input")).text).toBe('[{"role":"user"}]');
});

test("an exporter with an unknown key, or none of the scope, is refused and its spans are nowhere", async () => {
  for (const key of ["key-nobody", "key-reader"]) {
    const exporter = exporterOf(key);
    const spans: ReadableSpan[] = [];
    const keep = { onStart() {}, onEnd: (span: ReadableSpan) => void spans.push(span) };
    const rest = { forceFlush: async () => {}, shutdown: async () => {} };
    const resource = resourceFromAttributes({ "service.name": "refused" });
    const provider = new BasicTracerProvider({ resource, spanProcessors: [{ ...keep, ...rest }] });
    provider.getTracer("test").startSpan("s").end();
    const { error } = await new Promise<{ error?: Error }>((done) => exporter.export(spans, done));
    expect(error?.message).toMatch(key === "key-nobody" ? /UNAUTHENTICATED|16/ : /PERMISSION_DENIED|7/);
    await exporter.shutdown();
  }
  expect((await inspect("root", { source: "refused" })).totalSize).toBe(0);
});

test("an export of more than 16 MiB is refused without ending the connection, one just below is kept whole", async () => {
  const exporter = exporterOf("key-alice");
  const send = async (text: string): Promise<Error | undefined> => {
    const spans: ReadableSpan[] = [];
    const collect = { onStart() {}, onEnd: (span: ReadableSpan) => void spans.push(span) };
    const rest = { forceFlush: async () => {}, shutdown: async () => {} };
    const resource = resourceFromAttributes({ "service.name": "big" });
    const provider = new BasicTracerProvider({ resource, spanProcessors: [{ ...collect, ...rest }] });
    provider
      .getTracer("test")
      .startSpan("s", { attributes: { "input.value": text } })
      .end();
    const { error } = await new Promise<{ error?: Error }>((done) => exporter.export(spans, done));
    return error;
  };
  const bytes = (16 << 20) - 4096;
  const text = "\u043f\u0430\u043a\u0435\u0442 \ud83d\udef0 ".repeat(bytes / 16);
  expect(Buffer.byteLength(text)).toBe(bytes);
  expect((await send(text + "x".repeat(8_192)))?.message).toMatch(/RESOURCE_EXHAUSTED|8 /);
  expect(await send(text)).toBeUndefined();
  await exporter.shutdown();
  const { traces, totalSize } = await inspect("root", { source: "big" });
  expect(totalSize).toBe(1);
  expect(traces[0]!.fields[0]).toMatchObject({ field: "input", bytes, truncated: true });
  const pageBytes = 65_533;
  const method = TraceInspectionService.method.getTracePayload;
  const about = { traceId: traces[0]!.id, field: "input", pageBytes };
  const { pageCount, totalBytes } = await rig.dispatch.unary(method, about, as("alice", "traces"));
  expect([totalBytes, pageCount]).toEqual([bytes, Math.ceil(bytes / pageBytes)]);
  const read: string[] = [];
  for (let page = 1; page <= pageCount; page++) {
    read.push((await rig.dispatch.unary(method, { ...about, page }, as("alice", "traces"))).text);
  }
  expect(read.join("") === text).toBe(true);
});

test("our own calls are traced as children of the caller's span, over OTLP, without their content", async () => {
  const own = await createTracing({
    enabled: true,
    endpoint: url,
    headers: { authorization: "Bearer key-services" },
    serviceName: "our-own",
    sampleRatio: 1,
  });
  const { store, peers } = rig;
  const traced = await createTracesService({ store, peers, log: silentLog, retentionDays: 30 });
  rig.add(traced, own!.observe);
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const traceparent = `00-${traceId}-b7ad6b7169203331-01`;
  const secret = "source-nobody-may-see";
  const method = TraceInspectionService.method.inspectAgentTraces;
  await rig.dispatch.unary(method, { source: secret }, { ...as("root", "traces"), traceparent });
  await rig.dispatch
    .unary(method, { pageSize: 1000 }, { ...as("root", "traces"), traceparent })
    .catch((refused) => refused);
  await own!.close();

  const { traces, spans } = await inspect("root", { traceId });
  expect(traces).toHaveLength(1);
  expect(traces[0]).toMatchObject({
    source: "our-own",
    user: { id: "services" },
    spanCount: 2,
    status: TraceStatus.OK,
  });
  expect(spans.map(({ name, parentSpanId }) => [name, parentSpanId])).toEqual(
    Array(2).fill(["traces.v1.TraceInspectionService/InspectAgentTraces", "b7ad6b7169203331"]),
  );
  const fields = spans.map((span) => Object.fromEntries(span.fields.map(({ field, preview }) => [field, preview])));
  expect(fields[0]).toMatchObject({
    "attributes.rpc.system": "grpc",
    "attributes.rpc.service": "traces.v1.TraceInspectionService",
    "attributes.rpc.method": "InspectAgentTraces",
  });
  expect(fields.map((field) => field["attributes.rpc.grpc.status_code"]).sort()).toEqual(["0", "3"]);
  expect(JSON.stringify(fields)).not.toContain(secret);
  await expect(inspect("alice", { traceId })).rejects.toMatchObject({ code: Code.NotFound });
});
