import type { IncomingMessage, ServerResponse } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { McpServerService } from "#proto/core/v1/mcp_server_service_pb.js";
import { RunState } from "#proto/core/v1/run_pb.js";
import { as } from "../rig.js";
import { results } from "./model-server.js";
import { startStage } from "./stage.js";

const TOKEN = "sentinel-of-a-remote-server";
const TOOLS = [
  { name: "find_page", annotations: { readOnlyHint: true } },
  { name: "add_note", annotations: { destructiveHint: false } },
  { name: "drop_space", annotations: {} },
  { name: "delete_page", annotations: { destructiveHint: true } },
];

let stage: Awaited<ReturnType<typeof startStage>>;
const seen: { readonly method: string; readonly authorization: string | undefined; readonly params: unknown }[] = [];

/** What add_note refuses its arguments with. */
let refused: string | undefined;
/** Calls are answered by a stream that ends at once. */
let isMute = false;

/** A remote MCP server as node:http serves one: JSON in, JSON out. */
function serve(request: IncomingMessage, body: string, response: ServerResponse): void {
  if (request.method !== "POST") return void response.writeHead(405).end();
  const { id, method, params } = JSON.parse(body) as { id?: number; method: string; params: { name: string } };
  seen.push({ method, authorization: request.headers.authorization, params });
  if (id === undefined) return void response.writeHead(202).end();
  const answers: Record<string, object> = {
    initialize: {
      protocolVersion: "2025-06-18",
      capabilities: { tools: {} },
      serverInfo: { name: "wiki", version: "1" },
    },
    "tools/list": { tools: TOOLS.map((tool) => ({ ...tool, inputSchema: { type: "object" } })) },
    "tools/call": {
      content: [{ type: "text", text: refused ?? `${params?.name} for ${request.headers.authorization}` }],
      isError: params?.name === "add_note",
    },
  };
  if (isMute && method === "tools/call") return void response.setHeader("content-type", "text/event-stream").end();
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method] }));
}

beforeAll(async () => {
  stage = await startStage();
  stage.script.other = serve;
});
afterAll(() => stage.close());

async function wiki(more: object = {}): Promise<string> {
  const headers = [{ name: "Authorization", value: `Bearer ${TOKEN}` }];
  const request = { name: "wiki", url: `${stage.model.url}/mcp`, headers, ...more };
  return (await stage.rig.dispatch.unary(McpServerService.method.createMcpServer, request, as("alice"))).mcpServer!.id;
}

async function run(more: object = {}) {
  const agent = await stage.agent({ resourceIds: [await stage.integrate(), await wiki()], ...more });
  const before = stage.model.asked.length;
  const ended = await stage.rested((await stage.trigger(agent)).id);
  return { ended, asked: stage.model.asked.slice(before) };
}

test("tools of a remote MCP server are called with its headers, and its token is shown to nobody", async () => {
  stage.script.reply = (asked) =>
    results(asked).length === 0
      ? { calls: [{ call: "mcp__wiki__find_page", args: { page: 1 } }, { call: "mcp__wiki__add_note" }] }
      : "Done.";
  const { ended, asked } = await run();
  expect(ended.state).toBe(RunState.COMPLETED);
  expect(seen.find(({ method }) => method === "tools/call")).toEqual({
    method: "tools/call",
    authorization: `Bearer ${TOKEN}`,
    params: { name: "find_page", arguments: { page: 1 } },
  });
  expect(results(asked.at(-1)!)).toEqual(["find_page for [redacted]", "add_note for [redacted]"]);
  const steps = await stage.steps(ended.id);
  expect(steps.map(({ name, state }) => `${name} ${state}`)).toEqual([
    "large completed",
    "wiki/find_page completed",
    "wiki/add_note failed",
    "large completed",
  ]);
});

test("of its tools those that may destroy are offered only where the agent names them", async () => {
  stage.script.reply = () => "Done.";
  const offered = async (more: object) =>
    (await run(more)).asked[0]!.tools!.map(({ function: { name } }) => name).filter((name) => name.startsWith("mcp"));
  expect(await offered({})).toEqual(["mcp__wiki__find_page", "mcp__wiki__add_note"]);
  expect(await offered({ tools: ["mcp/delete_page"] })).toEqual([
    "mcp__wiki__find_page",
    "mcp__wiki__add_note",
    "mcp__wiki__delete_page",
  ]);
});

test("one that is not there, or where nobody may be, is named to the model, and the run goes on", async () => {
  stage.script.reply = () => "Done.";
  const lost = await wiki({ name: "lost", url: "http://127.0.0.1:4/mcp" });
  const { ended, asked } = await run({ resourceIds: [await stage.integrate(), lost] });
  expect(ended.state).toBe(RunState.COMPLETED);
  expect(asked[0]!.messages[0]!.content).toMatch(/cannot be used at the moment:\n- lost: /);
});

test("the issues with which a server refuses arguments are told to the model as a sentence", async () => {
  const issues = [{ code: "invalid_type", expected: "string", path: ["title"], message: "expected string" }];
  refused = `MCP error -32602: Invalid arguments for tool add_note: ${JSON.stringify(issues, null, 2)}`;
  stage.script.reply = (asked) => (results(asked).length === 0 ? { call: "mcp__wiki__add_note" } : "Done.");
  const { asked } = await run();
  refused = undefined;
  expect(results(asked.at(-1)!)).toEqual([
    "MCP error -32602: Invalid arguments for tool add_note: title: expected string",
  ]);
});

test("a call whose answer ends without one is told at once, and that it may have taken effect", async () => {
  isMute = true;
  stage.script.reply = (asked) => (results(asked).length === 0 ? { call: "mcp__wiki__add_note" } : "Done.");
  const { asked } = await run();
  isMute = false;
  expect(results(asked.at(-1)!)).toEqual([
    "it ended its answer without answering the request: the call may or may not have taken effect",
  ]);
});
