import { readdirSync, readFileSync } from "node:fs";
import { fromJson, type JsonObject, toBinary } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import {
  ExportLogsServiceRequestSchema,
  LogsService,
} from "#proto/opentelemetry/proto/collector/logs/v1/logs_service_pb.js";
import {
  ExportTraceServiceRequestSchema,
  TraceService,
} from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { connectClient } from "../../clients/node/connect.js";
import { call } from "../support/mcp.js";
import { makeKeysOf } from "../support/new-keys.js";
import { type Program, startProgram } from "../support/program.js";

// What real instrumentations sent (test/services/traces/dialects) over each transport of OTLP, as a person of its own:
// what inspect_agent_traces shows of it is the same.

const FOLDER = new URL("../services/traces/dialects/", import.meta.url);
const NAMES = readdirSync(FOLDER).flatMap((file) => /^(.*)\.snap\.json$/.exec(file)?.[1] ?? []);
const TRANSPORTS = ["grpc", "http/protobuf", "http/json"] as const;
type Transport = (typeof TRANSPORTS)[number];

let program: Program;
const keys = new Map<Transport, string>();
beforeAll(async () => {
  program = await startProgram();
  const { grpc_url: baseUrl, admin } = program.bootstrap;
  const users = connectClient(UserService, { baseUrl, apiKey: admin.api_key });
  for (const [i, transport] of TRANSPORTS.entries()) {
    await users.createUser({ email: `sender-${i}@example.org`, name: transport });
    keys.set(transport, (await makeKeysOf(program, `sender-${i}@example.org`, 1))[0]!);
  }
});
afterAll(() => program?.stop());

/** A recording, as if it was made now: what is older than the retention is not kept. */
function recorded(name: string): { readonly resourceSpans: JsonObject[]; readonly resourceLogs?: JsonObject[] } {
  const text = readFileSync(new URL(`${name}.snap.json`, FOLDER), "utf8");
  const times = [...text.matchAll(/"(?:start|end)?[tT]imeUnixNano":\s?"(\d+)"/g)].map(([, nanos]) => BigInt(nanos!));
  const late = BigInt(Date.now() - 60_000) * 1_000_000n - times.reduce((a, b) => (a < b ? a : b));
  return JSON.parse(
    text.replace(/(TimeUnixNano"|timeUnixNano"):\s?"(\d+)"/g, (_, of, nanos) => `${of}:"${BigInt(nanos) + late}"`),
  );
}

/** OTLP's JSON has ids in hexadecimal. */
function hexadecimal(json: unknown): unknown {
  return JSON.parse(JSON.stringify(json), (key, value) =>
    /^(traceId|spanId|parentSpanId)$/.test(key) ? Buffer.from(value, "base64").toString("hex") : value,
  );
}

async function send(transport: Transport, { resourceSpans, resourceLogs = [] }: ReturnType<typeof recorded>) {
  const authorization = `Bearer ${keys.get(transport)}`;
  const spans = fromJson(ExportTraceServiceRequestSchema, { resourceSpans });
  const logs = fromJson(ExportLogsServiceRequestSchema, { resourceLogs });
  if (transport === "grpc") {
    const over = createGrpcTransport({ baseUrl: program.bootstrap.grpc_url });
    const answers = [
      await createClient(TraceService, over).export(spans, { headers: { authorization } }),
      await createClient(LogsService, over).export(logs, { headers: { authorization } }),
    ];
    for (const { partialSuccess } of answers) expect(partialSuccess).toBeUndefined();
    return;
  }
  const isJson = transport === "http/json";
  const bodies = isJson
    ? [JSON.stringify(hexadecimal({ resourceSpans })), JSON.stringify(hexadecimal({ resourceLogs }))]
    : [toBinary(ExportTraceServiceRequestSchema, spans), toBinary(ExportLogsServiceRequestSchema, logs)];
  const headers = { authorization, "content-type": isJson ? "application/json" : "application/x-protobuf" };
  for (const [i, path] of ["/v1/traces", "/v1/logs"].entries()) {
    const reply = await fetch(program.baseUrl + path, { method: "POST", headers, body: bodies[i] as string });
    expect([reply.status, await reply.text()]).toEqual([200, isJson ? "{}" : ""]);
  }
}

type Shown = { traces: { id: string; started_at: string }[]; spans?: JsonObject[] };

/** All that the sender is shown of what was sent: of each trace its row, and its spans. */
async function shownTo(transport: Transport, since: string): Promise<unknown> {
  const inspect = (args: object) =>
    call<Shown>(`${program.baseUrl}/mcp/core`, keys.get(transport)!, "inspect_agent_traces", args);
  const { traces } = await inspect({ mine: true, started_after: since, page_size: 50 });
  const whole = await Promise.all(traces.map(({ id }) => inspect({ trace_id: id, page_size: 50 })));
  // A trace is kept for each sender, and named after them.
  const text = JSON.stringify([traces, whole], (key, value) => (key === "user" ? undefined : value));
  return JSON.parse(traces.reduce((rest, { id }) => rest.replaceAll(id, id.split(".")[0]!), text));
}

test.each(NAMES)("%s is shown as the same, whichever way it came", async (name) => {
  const since = new Date(Date.now() - 3_600_000).toISOString();
  const all = recorded(name);
  for (const transport of TRANSPORTS) await send(transport, all);
  const [first, ...others] = await Promise.all(TRANSPORTS.map((transport) => shownTo(transport, since)));
  expect(JSON.stringify(first)).toContain("large");
  // Instrumentations of a client of models know no agent.
  if (!/openai|^traceloop-python$/.test(name))
    expect((first as [{ agents?: unknown }[]])[0]).toContainEqual(
      expect.objectContaining({ agents: [expect.objectContaining({ name: "triage-bot" })], tools: ["look_up"] }),
    );
  for (const other of others) expect(other).toEqual(first);
});
