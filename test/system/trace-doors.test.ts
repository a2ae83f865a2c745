import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { Period, TraceInspectionService } from "#proto/traces/v1/trace_inspection_service_pb.js";
import { startModel } from "../services/core-objects/runs/model-server.js";
import { call, post, toolNames } from "../support/mcp.js";
import { type Program, startProgram } from "../support/program.js";

// Who reads which traces, asked over every door that there is to them.

const PEOPLE = ["administrator", "manager", "trigger", "stranger"] as const;
type Person = (typeof PEOPLE)[number];

/** What may be read, and the code that each of PEOPLE hears. */
const QUESTIONS = {
  listing: ["ok", "PermissionDenied", "PermissionDenied", "PermissionDenied"],
  "one agent": ["ok", "ok", "PermissionDenied", "PermissionDenied"],
  "one trace": ["ok", "ok", "ok", "NotFound"],
  "one trace by its W3C id": ["ok", "ok", "ok", "NotFound"],
  payload: ["ok", "ok", "ok", "NotFound"],
} as const;
type Question = keyof typeof QUESTIONS;

let program: Program;
let model: Awaited<ReturnType<typeof startModel>>;
let [agent, traceId] = ["", ""];
const keys = new Map<Person, string>();

const transports: Readonly<Record<string, (headers: Record<string, string>) => Transport>> = {
  gRPC: (headers) => createGrpcTransport(at(program.bootstrap.grpc_url, headers)),
  Connect: (headers) => createConnectTransport({ ...at(program.bootstrap.grpc_url, headers), httpVersion: "2" }),
  "gRPC-Web": (headers) => createGrpcWebTransport({ ...at(program.bootstrap.grpc_url, headers), httpVersion: "2" }),
  "Connect on /rpc": (headers) =>
    createConnectTransport({ ...at(`${program.baseUrl}/rpc`, headers), httpVersion: "1.1", useBinaryFormat: false }),
  "gRPC-Web on /rpc": (headers) =>
    createGrpcWebTransport({ ...at(`${program.baseUrl}/rpc`, headers), httpVersion: "1.1" }),
};

function at(baseUrl: string, headers: Record<string, string>) {
  const authorize = (next: (request: never) => never) => (request: { header: Headers }) => {
    for (const [name, value] of Object.entries(headers)) request.header.set(name, value);
    return next(request as never);
  };
  return { baseUrl, interceptors: [authorize as never] };
}

function asked(question: Question): readonly [tool: "inspect_agent_traces" | "get_trace_payload", request: object] {
  const w3c = traceId.split(".")[0];
  switch (question) {
    case "listing":
      return ["inspect_agent_traces", { period: "all" }];
    case "one agent":
      return ["inspect_agent_traces", { period: "all", target_agent_id: agent }];
    case "one trace":
      return ["inspect_agent_traces", { trace_id: traceId }];
    case "one trace by its W3C id":
      return ["inspect_agent_traces", { trace_id: w3c }];
    case "payload":
      return ["get_trace_payload", { trace_id: w3c, field: "resource.service.name" }];
  }
}

/** The code, and the text of the answer or of the refusal. */
type Heard = readonly [code: string, text: string];

async function overMcp(key: string, question: Question): Promise<Heard> {
  const [name, args] = asked(question);
  const { body, text } = await post(`${program.baseUrl}/mcp/core`, key, "tools/call", { name, arguments: args });
  if (body.result === undefined) throw new Error(text);
  return [body.result.isError ? "refused" : "ok", text];
}

async function overTransport(transport: Transport, question: Question): Promise<Heard> {
  const client = createClient(TraceInspectionService, transport);
  const [tool, { period: _, target_agent_id, ...rest }] = asked(question) as [string, Record<string, string>];
  const request = { traceId: rest.trace_id ?? "", field: rest.field ?? "" };
  try {
    const answer =
      tool === "get_trace_payload"
        ? await client.getTracePayload(request)
        : await client.inspectAgentTraces({
            traceId: request.traceId,
            targetAgentId: target_agent_id ?? "",
            period: Period.ALL,
          });
    return ["ok", JSON.stringify(answer, (_name, value) => (typeof value === "bigint" ? String(value) : value))];
  } catch (error) {
    const { code, rawMessage } = ConnectError.from(error);
    return [Code[code] as string, rawMessage];
  }
}

async function rpc<T>(path: string, key: string, body: object): Promise<T> {
  const reply = await fetch(`${program.baseUrl}/rpc/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  });
  if (!reply.ok) throw new Error(await reply.text());
  return (await reply.json()) as T;
}

beforeAll(async () => {
  model = await startModel(() => "I see nothing.");
  program = await startProgram();
  const admin = program.bootstrap.admin.api_key;
  keys.set("administrator", admin);
  for (const who of PEOPLE.slice(1)) {
    const email = `${who}@example.org`;
    await rpc("auth.v1.UserService/CreateUser", admin, { email, name: who });
    const { token } = await rpc<{ token: string }>("auth.v1.ApiKeyService/CreateApiKey", admin, {
      name: "key",
      userEmail: email,
    });
    keys.set(who, token);
  }
  const core = `${program.baseUrl}/mcp/core`;
  const viewers = ["trigger", "stranger"].map((who) => ({ to: `user:${who}@example.org`, tier: "view" }));
  const { integration } = await call<{ integration: { id: string } }>(
    core,
    keys.get("manager")!,
    "create_integration",
    {
      name: "Models",
      type: "openai",
      endpoint: `${model.url}/v1`,
      models: ["large"],
      sharing: viewers,
    },
  );
  const made = await call<{ agent: { id: string } }>(core, keys.get("manager")!, "create_agent", {
    name: "Watched",
    sharing: viewers,
    resource_ids: [integration.id],
  });
  agent = made.agent.id;
  const { run } = await call<{ run: { trace_id: string } }>(core, keys.get("trigger")!, "trigger_run", {
    agent_id: agent,
    input: "What do you see?",
    wait_seconds: 20,
  });
  // The stranger manages another agent.
  await call(core, keys.get("stranger")!, "create_agent", { name: "Own" });
  await vi.waitFor(
    async () => {
      const args = { trace_id: run.trace_id };
      const { traces } = await call<{ traces: { id: string }[] }>(core, admin, "inspect_agent_traces", args);
      traceId = traces[0]!.id;
    },
    { timeout: 20_000, interval: 50 },
  );
});
afterAll(async () => {
  await program?.stop();
  await model?.close();
});

test("who has triggered a run is shown the tools that read its trace, without an agent to manage", async () => {
  const names = await toolNames(`${program.baseUrl}/mcp/core`, keys.get("trigger")!);
  expect(names).toEqual(expect.arrayContaining(["inspect_agent_traces", "get_trace_payload"]));
});

describe.each(["MCP", ...Object.keys(transports)])("over %s", (door) => {
  test.each(
    PEOPLE.flatMap((who, n) => Object.entries(QUESTIONS).map(([asks, codes]) => [who, asks, codes[n]!] as const)),
  )("%s asks for %s: %s", async (who, question, expected) => {
    const key = keys.get(who)!;
    const [code, text] =
      door === "MCP"
        ? await overMcp(key, question as Question)
        : await overTransport(transports[door]!({ authorization: `Bearer ${key}` }), question as Question);
    expect(code, text).toBe(door === "MCP" && expected !== "ok" ? "refused" : expected);
    // An answer is of this trace; a refusal tells nothing of it beyond what was asked.
    if (code === "ok") expect(text).toMatch(/Watched|service|sallyport/);
    else expect(text).not.toContain("invoke_agent");
    if (question === "listing" && who === "manager") expect(text).toContain(agent);
    if (question === "listing" && expected !== "ok" && who !== "manager") expect(text).not.toContain(agent);
  });
});
