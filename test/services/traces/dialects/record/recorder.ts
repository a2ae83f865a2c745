import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fromBinary, toJson } from "@bufbuild/protobuf";
import { ExportLogsServiceRequestSchema } from "#proto/opentelemetry/proto/collector/logs/v1/logs_service_pb.js";
import { ExportTraceServiceRequestSchema } from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";

// Runs a program with a real instrumentation against a model that answers with one call of a tool and then a text, and
// writes the spans and log records that it sends, without what says nothing of the work: recorder.ts OUT PROGRAM ARGUMENTS…

const [out = "", program = "", ...args] = process.argv.slice(2);
/** Attributes of the machine, and schemas of tools, which are long. */
const LEFT_OUT =
  /^(telemetry\.|service\.instance|server\.)|(metadata|association\.properties)\.(?!lc_agent_name)|schema$|\.definitions$|api_base$|request_parameters$|prompt\.tools$/;
const LONGEST = 1_000;

/** The same without the attributes that are left out; long texts are cut. */
function shortened(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (key, inner) => {
    if (key === "attributes") return inner.filter((one: { key: string }) => !LEFT_OUT.test(one.key));
    // Some SDKs name a service after the path of its program.
    if (inner?.key === "service.name") return { key: "service.name", value: { stringValue: "recorded" } };
    return typeof inner === "string" ? inner.slice(0, LONGEST) : inner;
  });
}

const exported: unknown[] = [];
const logged: unknown[] = [];

function answer(messages: readonly { role: string }[]): object {
  const usage = { prompt_tokens: 21, completion_tokens: 7, total_tokens: 28 };
  const call = { id: "call_1", type: "function", function: { name: "look_up", arguments: '{"host":"web-1"}' } };
  const isAnswered = messages.some(({ role }) => role === "tool");
  const message = isAnswered
    ? { role: "assistant", content: "web-1 is safe." }
    : { role: "assistant", content: null, tool_calls: [call] };
  const choices = [{ index: 0, message, finish_reason: isAnswered ? "stop" : "tool_calls" }];
  return { id: "chatcmpl-1", object: "chat.completion", created: 1, model: "large-2026", choices, usage };
}

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  response.setHeader("content-type", "application/json");
  if (request.url?.endsWith("/chat/completions"))
    return void response.end(JSON.stringify(answer(JSON.parse(body.toString()).messages)));
  if (request.url?.endsWith("/traces"))
    exported.push(toJson(ExportTraceServiceRequestSchema, fromBinary(ExportTraceServiceRequestSchema, body)));
  if (request.url?.endsWith("/logs"))
    logged.push(toJson(ExportLogsServiceRequestSchema, fromBinary(ExportLogsServiceRequestSchema, body)));
  response.setHeader("content-type", "application/x-protobuf");
  response.end();
});
server.listen(0, "127.0.0.1", () => {
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = {
    ...process.env,
    MODEL_URL: `${base}/v1`,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${base}/v1/traces`,
    OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: `${base}/v1/logs`,
    OTEL_EXPORTER_OTLP_ENDPOINT: base,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
    OTEL_SERVICE_NAME: "recorded",
    OPENAI_API_KEY: "none",
  };
  const child: ChildProcess = spawn(program, args, { env, stdio: "inherit" });
  child.on("exit", (code) => {
    const spans = exported.flatMap((one) => (one as { resourceSpans?: object[] }).resourceSpans ?? []);
    const logs = logged.flatMap((one) => (one as { resourceLogs?: object[] }).resourceLogs ?? []);
    const all = { resourceSpans: spans, ...(logs.length > 0 && { resourceLogs: logs }) };
    writeFileSync(out, JSON.stringify(shortened(all)));
    server.close();
    process.exit(code ?? 1);
  });
});
