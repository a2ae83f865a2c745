import type { IncomingMessage, ServerResponse } from "node:http";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { ConnectionState } from "#proto/core/v1/connection_pb.js";
import { CustomToolService } from "#proto/core/v1/custom_tool_service_pb.js";
import { McpServerService } from "#proto/core/v1/mcp_server_service_pb.js";
import { RunState } from "#proto/core/v1/run_pb.js";
import { Tier } from "#proto/core/v1/sharing_pb.js";
import type { McpServerRecord } from "../../../../services/core-objects/kinds/mcp-servers/record.js";
import type { RunRecord } from "../../../../services/core-objects/runs/record.js";
import { as } from "../rig.js";
import { type Asked, results } from "./model-server.js";
import { startStage } from "./stage.js";

// What hostile servers and models do to runs. What they do to other callers is in test/hold/answers.

const TOKEN = "sentinel-of-a-hostile-server";
const HIDDEN = "\u202eold\u2066";
let stage: Awaited<ReturnType<typeof startStage>>;
let tools: readonly object[] = [];
let called: (id: number, response: ServerResponse) => unknown;
const asked: string[] = [];

function serve(request: IncomingMessage, body: string, response: ServerResponse): void {
  if (request.method !== "POST") return void response.writeHead(405).end();
  const { id, method } = JSON.parse(body) as { id?: number; method: string };
  asked.push(method);
  if (id === undefined) return void response.writeHead(202).end();
  if (request.url === "/silent") return;
  response.setHeader("content-type", "application/json");
  const answer = (result: object): void => void response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  if (method === "tools/call") return void called(id, response);
  if (method === "tools/list") return void answer({ tools });
  answer({ protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "h", version: "1" } });
}

beforeAll(async () => {
  stage = await startStage();
  stage.script.other = serve;
});
afterAll(() => stage.close());

const { createMcpServer, getMcpServer, testMcpServer } = McpServerService.method;
async function server(path = "mcp", more: object = {}): Promise<string> {
  const headers = [{ name: "Authorization", value: `Bearer ${TOKEN}` }];
  const request = { name: "hostile", url: `${stage.model.url}/${path}`, headers, ...more };
  return (await stage.rig.dispatch.unary(createMcpServer, request, as("alice"))).mcpServer!.id;
}
async function run(mcpServer: string) {
  const agent = await stage.agent({ resourceIds: [await stage.integrate(), mcpServer], tools: ["core/list_agents"] });
  const before = stage.model.asked.length;
  const ended = await stage.rested((await stage.trigger(agent)).id);
  return { ended, asked: stage.model.asked.slice(before), steps: await stage.steps(ended.id) };
}
const tool = (more: object) => ({
  name: "look",
  annotations: { readOnlyHint: true },
  inputSchema: { type: "object" },
  ...more,
});
const first = (name: string) => (one: Asked) => (results(one).length === 0 ? { call: name } : "Done.");
const told = (one: Asked | undefined): string => JSON.stringify(one);
/** Its time is over: it is asked again. */
const later = (id: string) =>
  stage.rig.store
    .collection<McpServerRecord>("mcp_servers")
    .updateOne({ _id: id }, { $set: { "connection.left_out.until": new Date(Date.now() - 1) } });

test("names, descriptions and schemas of a server are redacted, and what hides in them is shown", async () => {
  const properties = { [TOKEN]: { type: "string", description: `${HIDDEN} Bearer ${TOKEN}`, enum: [TOKEN] } };
  const inputSchema = { type: "object", properties };
  tools = [tool({ name: `look_${TOKEN}${HIDDEN}`, description: `${HIDDEN}${TOKEN}`, inputSchema })];
  called = (id, response) =>
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: TOKEN + HIDDEN }] } }));
  stage.script.reply = (one) =>
    results(one).length === 0
      ? { call: one.tools!.find(({ function: { name } }) => name.startsWith("mcp__"))!.function.name, id: `c-${TOKEN}` }
      : "Done.";
  const id = await server();
  const { ended, asked: questions, steps } = await run(id);
  expect(ended.state).toBe(RunState.COMPLETED);
  const offered = questions[0]!.tools!.find(({ function: { name } }) => name.startsWith("mcp__"))!.function;
  expect(offered.description).toBe("‹U+202E›old‹U+2066›[redacted]");
  expect(offered.parameters).toEqual({
    type: "object",
    properties: { "[redacted]": expect.objectContaining({ enum: ["[redacted]"] }) },
  });
  expect(steps[1]!.name).toBe("hostile/look_[redacted]‹U+202E›old‹U+2066›");
  expect(results(questions.at(-1)!)).toEqual(["[redacted]‹U+202E›old‹U+2066›"]);
  for (const text of [told(questions.at(-1)), JSON.stringify(steps)])
    expect(text).not.toMatch(/sentinel-of-a-hostile|\u202e/);
  const answer = await stage.rig.dispatch.unary(testMcpServer, { mcpServerId: id }, as("alice"));
  expect(answer.tools).toEqual(["look_[redacted]‹U+202E›old‹U+2066›"]);
});

test("a server that is silent is waited for once: the next run is told why it is left out", async () => {
  const id = await server("silent", { sharing: [{ to: "user:bob", tier: Tier.VIEW }] });
  stage.script.reply = () => "Done.";
  const one = await run(id);
  expect(told(one.asked[0])).toContain("it did not answer within 5 seconds");
  const before = asked.length;
  const two = await run(id);
  expect(told(two.asked[0])).toMatch(/it is not used until .*, because it did not answer within 5 seconds/);
  expect(asked.length).toBe(before);
  const shown = (await stage.rig.dispatch.unary(getMcpServer, { mcpServerId: id }, as("alice"))).mcpServer!;
  expect(shown.connection).toBe(ConnectionState.DISCONNECTED);
  expect(shown.connectionError).toMatch(/did not answer within 5 seconds; it is not used until /);
  const byBob = await stage.rig.dispatch.unary(testMcpServer, { mcpServerId: id }, as("bob"));
  expect([byBob.error, asked.length]).toEqual([expect.stringContaining("not used until"), before]);
  await stage.rig.dispatch.unary(testMcpServer, { mcpServerId: id }, as("alice"));
  expect(asked.length).toBeGreaterThan(before);
});

test("60,000 tools of one name end nothing but the connection, and the server is left out for longer each time", async () => {
  tools = Array.from({ length: 60_000 }, () => tool({}));
  const id = await server();
  stage.script.reply = () => "Done.";
  const minutes: number[] = [];
  for (let n = 0; n < 2; n++) {
    const { ended, asked: questions } = await run(id);
    expect(ended.state).toBe(RunState.COMPLETED);
    expect(told(questions[0])).toContain("hostile: its JSON has more than 100000 values");
    const record = await stage.rig.store.collection<McpServerRecord>("mcp_servers").findOne({ _id: id });
    const { until } = record!.connection!.left_out!;
    minutes.push(Math.round((until.getTime() - Date.now()) / 60_000));
    await later(id);
  }
  expect(minutes).toEqual([10, 20]);
});

test("a tool that is too much is left out by name, and of two with one name the first stays", async () => {
  const deep = JSON.parse(`${'{"a":'.repeat(40)}{}${"}".repeat(40)}`) as object;
  tools = [
    ...[tool({ name: "deep", inputSchema: { type: "object", properties: deep } }), tool({ name: "n".repeat(500) })],
    ...[tool({ description: "first" }), tool({ description: "second" })],
  ];
  stage.script.reply = () => "Done.";
  const [question] = (await run(await server())).asked;
  const offered = question!.tools!.filter(({ function: { name } }) => name.startsWith("mcp__"));
  expect(offered.map(({ function: { name, description } }) => [name, description])).toEqual([
    ["mcp__hostile__look", "first"],
  ]);
  expect(question!.messages[0]!.content).toMatch(/its tool deep is not used: its input schema is not valid: .*nested/);
  expect(question!.messages[0]!.content).toMatch(/its tool look is not used: another tool has the same name/);
});

test("a call of a remote server that a worker was lost in is not sent again, though the tool says that it only reads", async () => {
  tools = [tool({})];
  let calls = 0;
  called = () => calls++;
  stage.script.reply = first("mcp__hostile__look");
  const agent = await stage.agent({ resourceIds: [await stage.integrate(), await server()] });
  const { id } = await stage.trigger(agent);
  await vi.waitFor(() => expect(calls).toBe(1), { timeout: 20_000, interval: 20 });
  // As if its worker had died: another one takes the run.
  await stage.rig.store
    .collection<RunRecord>("runs")
    .updateOne({ _id: id }, { $inc: { fence: 1 }, $set: { due_at: new Date() } });
  await vi.waitFor(async () => expect((await stage.steps(id))[1]!.state).toBe("unknown"), { timeout: 20_000 });
  expect((await stage.rested(id)).state).toBe(RunState.COMPLETED);
  expect(calls).toBe(1);
});

test("of more than 32 calls at once 32 are made, and the model is told of the others", async () => {
  stage.script.reply = (one) =>
    results(one).length === 0
      ? { calls: Array.from({ length: 100 }, () => ({ call: "core__list_agents", args: { page_size: 1 } })) }
      : "Done.";
  const { asked: questions, ended } = await run(await server());
  expect(ended.state).toBe(RunState.COMPLETED);
  const said = results(questions.at(-1)!);
  expect(said).toHaveLength(33);
  expect(said.slice(0, 32).every((text) => text!.includes("agents"))).toBe(true);
  expect(said[32]).toContain("one answer may have at most 32 calls");
});

test("arguments that are nested deep are refused before they are parsed, and a name of 2 MB is kept short", async () => {
  const text = `{"query":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
  stage.script.reply = (one) =>
    results(one).length === 0
      ? { call: "core__list_agents", args: text }
      : results(one).length === 1
        ? { call: "n".repeat(2e6) }
        : "Done.";
  const { ended, steps, asked: questions } = await run(await server());
  expect(ended.state).toBe(RunState.COMPLETED);
  expect(results(questions.at(-1)!)).toEqual([
    "the JSON of the arguments is nested deeper than 32 levels",
    expect.stringContaining("there is no such tool"),
  ]);
  expect(JSON.stringify(steps).length).toBeLessThan(100_000);
});

async function fetching(path: string): Promise<string> {
  const tool = { name: "fetch", description: "d", method: "get", url: `${stage.model.url}/${path}` };
  return (await stage.rig.dispatch.unary(CustomToolService.method.createCustomTool, tool, as("alice"))).customTool!.id;
}

test("a GET of a custom tool that was under way when its worker was lost is not sent again, and the model is told so", async () => {
  let calls = 0;
  const answering = stage.script.other;
  stage.script.other = () => void calls++;
  stage.script.reply = first("custom__fetch");
  const agent = await stage.agent({ resourceIds: [await stage.integrate(), await fetching("never")] });
  const { id } = await stage.trigger(agent);
  await vi.waitFor(() => expect(calls).toBe(1), { timeout: 20_000, interval: 20 });
  await stage.rig.store
    .collection<RunRecord>("runs")
    .updateOne({ _id: id }, { $inc: { fence: 1 }, $set: { due_at: new Date() } });
  await vi.waitFor(async () => expect((await stage.steps(id))[1]!.state).toBe("unknown"), { timeout: 20_000 });
  expect((await stage.rested(id)).state).toBe(RunState.COMPLETED);
  expect(told(stage.model.asked.at(-1))).toContain("the call may or may not have taken effect");
  expect(calls).toBe(1);
  stage.script.other = answering;
});

test("a custom tool whose answer is too long is left out, and another address is asked", async () => {
  let calls = 0;
  const answering = stage.script.other;
  stage.script.other = (_request, _body, response) => {
    calls++;
    response.end(Buffer.alloc(9 * 2 ** 20));
  };
  stage.script.reply = first("custom__fetch");
  const id = await fetching("long");
  const said = async (): Promise<string | undefined> => (await run(id)).steps[1]?.output;
  expect(await said()).toContain("its answer is longer than 8 MiB: the call may or may not have taken effect");
  expect(await said()).toMatch(/it was not called: it is not used until .*, because its answer is longer than 8 MiB/);
  expect(calls).toBe(1);
  const moved = { customToolId: id, url: `${stage.model.url}/short` };
  await stage.rig.dispatch.unary(CustomToolService.method.updateCustomTool, moved, as("alice"));
  stage.script.other = (_request, _body, response) => void response.end("short");
  expect(await said()).toBe("short");
  stage.script.other = answering;
});
