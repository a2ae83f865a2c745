import { afterAll, beforeAll, expect, test } from "vitest";
import { legacy, post } from "./support/client.js";
import { type Started, start } from "./support/start.js";

// Wire vectors of the versions 2025-03-26 to 2025-11-25, without sessions.

let server: Started;
let endpoint: string;

beforeAll(async () => {
  server = await start();
  endpoint = `${server.url}/mcp/cti`;
});
afterAll(() => server.close());

const initialize = (version: unknown) => ({
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: version, capabilities: {}, clientInfo: { name: "c", version: "1" } },
});

test.each([
  ["2025-11-25", "2025-11-25"],
  ["2025-06-18", "2025-06-18"],
  ["2025-03-26", "2025-03-26"],
  ["2026-07-28", "2025-11-25"],
  ["1999-01-01", "2025-11-25"],
])("initialize with %s agrees on %s", async (asked, agreed) => {
  for (const version of [undefined, "2025-06-18", "1999-01-01"]) {
    const { status, json, headers } = await post(endpoint, initialize(asked), { "mcp-protocol-version": version });
    expect(status).toBe(200);
    expect(json.id).toBe(0);
    expect(json.result).toMatchObject({ protocolVersion: agreed, capabilities: { tools: {} } });
    expect(json.result.serverInfo).toMatchObject({ name: "cti", version: "1.2.3" });
    expect(headers.get("mcp-session-id")).toBeNull();
  }
});

test.each([
  ["initialize without a version", initialize(undefined), undefined, 200, -32602],
  ["an unknown method", legacy("no/such").body, "2025-11-25", 200, -32601],
  ["a probe without a claim", legacy("server/discover").body, undefined, 200, -32601],
  ["prompts/list", legacy("prompts/list").body, "2025-11-25", 200, -32601],
  ["logging/setLevel", legacy("logging/setLevel", { level: "info" }).body, undefined, 200, -32601],
  ["an unknown tool", legacy("tools/call", { name: "no_such" }).body, undefined, 200, -32602],
  ["a call without a name", legacy("tools/call", {}).body, undefined, 200, -32602],
  ["a cursor", legacy("tools/list", { cursor: "x" }).body, undefined, 200, -32602],
  ["an unknown version in the header", legacy("ping").body, "1999-01-01", 400, -32600],
])("%s is refused", async (_what, body, version, status, code) => {
  const answer = await post(endpoint, body, { "mcp-protocol-version": version });
  expect({ status: answer.status, code: answer.json.error.code }).toEqual({ status, code });
  expect(answer.json.id).toBe(body.id);
});

test("an unknown version is told which are known", async () => {
  const { json } = await post(endpoint, legacy("ping").body, { "mcp-protocol-version": "1999-01-01" });
  expect(json.error.message).toContain("2025-11-25");
});

test.each(["2025-03-26", "2025-06-18", "2025-11-25", undefined])("version %s is served in full", async (version) => {
  const headers = { "mcp-protocol-version": version };
  expect((await post(endpoint, legacy("ping").body, headers)).json).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
  const list = (await post(endpoint, legacy("tools/list").body, headers)).json.result;
  expect(Object.keys(list)).toEqual(["tools"]);
  const call = legacy("tools/call", { name: "echo_sighting", arguments: { word: "hi" } });
  const { result } = (await post(endpoint, call.body, headers)).json;
  expect(result.structuredContent.word).toBe("hi");
  expect(Object.keys(result)).toEqual(["content", "structuredContent"]);
});

test.each([
  ["a notification", { jsonrpc: "2.0", method: "notifications/initialized" }],
  ["a cancellation", { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } }],
  ["a response", { jsonrpc: "2.0", id: 1, result: {} }],
  ["an error response", { jsonrpc: "2.0", id: 1, error: { code: 1, message: "x" } }],
])("%s is taken without a word", async (_what, body) => {
  const answer = await post(endpoint, body, { "mcp-protocol-version": "2025-11-25" });
  expect(answer).toMatchObject({ status: 202, text: "" });
  expect(answer.headers.get("content-type")).toBeNull();
});

const ping = (id: number) => legacy("ping", undefined, id).body;
const NOTICE = { jsonrpc: "2.0", method: "notifications/initialized" };

test.each([undefined, "2025-03-26"])(
  "a batch under version %s is answered in order, one error alone",
  async (version) => {
    const body = [ping(1), NOTICE, legacy("no/such", {}, 2).body, legacy("tools/list", {}, 3).body, 5];
    const { status, json } = await post(endpoint, body, { "mcp-protocol-version": version });
    expect(status).toBe(200);
    expect(json.map((answer: { id?: number; error?: { code: number } }) => [answer.id, answer.error?.code])).toEqual([
      [1, undefined],
      [2, -32601],
      [3, undefined],
      [undefined, -32600],
    ]);
  },
);

test("a batch that asks for nothing is taken without a word", async () => {
  expect(await post(endpoint, [NOTICE, NOTICE])).toMatchObject({ status: 202, text: "" });
});

test.each([
  ["an empty batch", [], undefined],
  ["a batch with initialize", [initialize("2025-03-26")], undefined],
  ["a batch of 101", Array.from({ length: 101 }, (_, i) => ping(i)), undefined],
  ["a batch under 2025-06-18", [ping(1)], "2025-06-18"],
  ["a batch under 2025-11-25", [ping(1)], "2025-11-25"],
])("%s is refused", async (_what, body, version) => {
  const { status, json } = await post(endpoint, body, { "mcp-protocol-version": version });
  expect({ status, code: json.error.code, hasId: "id" in json }).toEqual({ status: 400, code: -32600, hasId: false });
});

test("a legacy version that initialize claims in _meta is legacy still", async () => {
  const body = initialize("2025-11-25");
  const meta = { "io.modelcontextprotocol/protocolVersion": "2025-11-25" };
  const { json } = await post(endpoint, { ...body, params: { ...body.params, _meta: meta } });
  expect(json.result.protocolVersion).toBe("2025-11-25");
});
