import { afterAll, beforeAll, expect, test } from "vitest";
import { envelope, eventsOf, legacy, modern, post } from "./support/client.js";
import { CTI, type Started, start } from "./support/start.js";

// Wire vectors of version 2026-07-28: one fault each, with the exact answer.

let server: Started;
let endpoint: string;

beforeAll(async () => {
  server = await start();
  endpoint = `${server.url}/mcp/cti`;
});
afterAll(() => server.close());

const ECHO = { name: "echo_sighting", arguments: { word: "hi" } };

interface Vector {
  readonly what: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string | undefined>;
  readonly status: number;
  readonly code: number;
  readonly data?: unknown;
  readonly id?: unknown;
}

/** A tools/call with something else in its headers, `_meta` or parameters. */
function call(
  headers: Record<string, string | undefined> = {},
  meta: Record<string, unknown> = {},
  params: Record<string, unknown> = ECHO,
): { body: unknown; headers: Record<string, string | undefined> } {
  const message = modern("tools/call", { ...params, _meta: meta });
  return { body: message.body, headers: { ...message.headers, ...headers } };
}

const KEY = "io.modelcontextprotocol";

const refused: Vector[] = [
  { what: "a version that is no string", ...call({}, { [`${KEY}/protocolVersion`]: 1 }), status: 400, code: -32602 },
  {
    what: "capabilities that are missing",
    ...call({}, { [`${KEY}/clientCapabilities`]: undefined }),
    status: 400,
    code: -32602,
  },
  {
    what: "capabilities that are a list",
    ...call({}, { [`${KEY}/clientCapabilities`]: [] }),
    status: 400,
    code: -32602,
  },
  {
    what: "no _meta under a modern header",
    body: { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} },
    headers: { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" },
    status: 400,
    code: -32602,
  },
  {
    what: "no params under a modern header",
    body: { jsonrpc: "2.0", id: 1, method: "tools/list" },
    headers: { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" },
    status: 400,
    code: -32602,
  },
  {
    what: "another version in the header",
    ...call({ "mcp-protocol-version": "2025-11-25" }),
    status: 400,
    code: -32020,
  },
  { what: "another method in the header", ...call({ "mcp-method": "tools/list" }), status: 400, code: -32020 },
  { what: "the method in another case", ...call({ "mcp-method": "Tools/Call" }), status: 400, code: -32020 },
  {
    what: "a version of the future",
    ...call({ "mcp-protocol-version": "2099-01-01" }, { [`${KEY}/protocolVersion`]: "2099-01-01" }),
    status: 400,
    code: -32022,
    data: { supported: ["2026-07-28"], requested: "2099-01-01" },
  },
  {
    what: "an older version that is claimed in _meta",
    ...call({ "mcp-protocol-version": "2025-11-25" }, { [`${KEY}/protocolVersion`]: "2025-11-25" }),
    status: 400,
    code: -32022,
    data: { supported: ["2026-07-28"], requested: "2025-11-25" },
  },
  { what: "no version header", ...call({ "mcp-protocol-version": undefined }), status: 400, code: -32020 },
  { what: "no method header", ...call({ "mcp-method": undefined }), status: 400, code: -32020 },
  ...["initialize", "ping", "logging/setLevel", "resources/subscribe", "prompts/list", "completion/complete"].map(
    (method) => ({ what: `the method ${method}`, ...modern(method), status: 404, code: -32601 }),
  ),
  { what: "no name header", ...call({ "mcp-name": undefined }), status: 400, code: -32020 },
  { what: "another name in the header", ...call({ "mcp-name": "page_sightings" }), status: 400, code: -32020 },
  { what: "a name header that is not base64", ...call({ "mcp-name": "=?base64?a===?=" }), status: 400, code: -32020 },
  { what: "a name that is no string", ...call({ "mcp-name": "1" }, {}, { name: 1 }), status: 200, code: -32602 },
  { what: "arguments that are a list", ...call({}, {}, { ...ECHO, arguments: [] }), status: 200, code: -32602 },
  { what: "an unknown log level", ...call({}, { [`${KEY}/logLevel`]: "loud" }), status: 200, code: -32602 },
  { what: "a cursor", ...modern("tools/list", { cursor: "x" }), status: 200, code: -32602 },
  { what: "an unknown tool", ...modern("tools/call", { name: "no_such" }), status: 200, code: -32602 },
  {
    what: "a tool without the capability it needs",
    ...modern("tools/call", { name: "drop_sighting", arguments: { id: "1" } }),
    status: 400,
    code: -32021,
    data: { requiredCapabilities: { elicitation: {} } },
  },
  {
    what: "a batch",
    body: [modern("tools/list").body],
    headers: { "mcp-protocol-version": "2026-07-28" },
    status: 400,
    code: -32600,
    id: undefined,
  },
  {
    what: "a batch without a header whose element makes a claim",
    body: [modern("tools/list").body],
    status: 400,
    code: -32600,
    id: undefined,
  },
  {
    what: "a posted response",
    body: { jsonrpc: "2.0", id: 1, result: {} },
    headers: { "mcp-protocol-version": "2026-07-28" },
    status: 400,
    code: -32600,
    id: undefined,
  },
  {
    what: "initialize under a modern header",
    body: { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25" } },
    headers: { "mcp-protocol-version": "2026-07-28" },
    status: 400,
    code: -32020,
  },
  { what: "id null", body: { ...modern("tools/list").body, id: null }, status: 400, code: -32600, id: undefined },
  { what: "id 1.5", body: { ...modern("tools/list").body, id: 1.5 }, status: 400, code: -32600, id: undefined },
  { what: "no JSON", body: "{", status: 400, code: -32700, id: undefined },
  { what: "a number", body: "1", status: 400, code: -32600, id: undefined },
  { what: "another jsonrpc", body: { ...modern("tools/list").body, jsonrpc: "1.0" }, status: 400, code: -32600 },
  { what: "no method", body: { jsonrpc: "2.0", id: 1 }, status: 400, code: -32600 },
];

test.each(refused)("$what is refused with $status and $code", async (vector) => {
  const { status, json, headers } = await post(endpoint, vector.body, vector.headers);
  expect({ status, code: json.error.code }).toEqual({ status: vector.status, code: vector.code });
  expect(headers.get("content-type")).toBe("application/json");
  expect("id" in json ? json.id : undefined).toBe("id" in vector ? vector.id : 1);
  expect(json.error.data).toEqual(vector.data);
});

test("server/discover lists the versions, and tells how long it may be kept", async () => {
  const { body, headers } = modern("server/discover", {}, "probe-1");
  const { json, status } = await post(endpoint, body, headers);
  expect(status).toBe(200);
  expect(json.id).toBe("probe-1");
  expect(json.result).toMatchObject({
    resultType: "complete",
    supportedVersions: ["2026-07-28"],
    capabilities: { tools: {} },
    cacheScope: "private",
    _meta: { [`${KEY}/serverInfo`]: { name: "cti", version: "1.2.3" } },
  });
  expect(Number.isInteger(json.result.ttlMs)).toBe(true);
  expect(json.result.instructions.length).toBeLessThan(2048);
});

test("instructions name the tools that the caller sees through the URL, in both eras", async () => {
  const told = async (query: string): Promise<string[]> => {
    const { body, headers } = modern("server/discover", {});
    const old = legacy("initialize", { protocolVersion: "2025-11-25" });
    const answers = [
      await post(`${endpoint}${query}`, body, headers),
      await post(`${endpoint}${query}`, old.body, old.headers),
    ];
    return answers.map(({ json }) => json.result.instructions);
  };
  for (const text of await told("")) expect(text).toMatch(/echo_sighting.*drop_sighting/);
  for (const text of await told("?readonly=1")) {
    expect(text).toContain("echo_sighting");
    expect(text).not.toContain("drop_sighting");
  }
  for (const text of await told("?readonly=1&toolsets=writing"))
    expect(text).toContain("No tools are available here now");
});

test("tools/list is the same list, in the same order, each time", async () => {
  const { body, headers } = modern("tools/list", {}, 'a string id with "quotes" and é');
  const first = await post(endpoint, body, headers);
  const second = await post(endpoint, body, headers);
  expect(first.text).toBe(second.text);
  expect(first.json.id).toBe(body.id);
  expect(first.json.result).toMatchObject({ resultType: "complete", cacheScope: "private", ttlMs: 60_000 });
  expect(first.json.result.tools.map((tool: { name: string }) => tool.name)).toEqual([
    "echo_sighting",
    "page_sightings",
    "count_sightings",
    "route_sighting",
    "drop_sighting",
    "fail_sighting",
    "wait_for_sighting",
  ]);
  expect("nextCursor" in first.json.result).toBe(false);
});

test("an id longer than the room behind a list is sent whole", async () => {
  const { body, headers } = modern("tools/list", {}, "x".repeat(5_000));
  expect((await post(endpoint, body, headers)).json.id).toBe(body.id);
});

test("the URL narrows the list, and a call of what it leaves out says so", async () => {
  const names = async (query: string) => {
    const { body, headers } = modern("tools/list");
    return (await post(endpoint + query, body, headers)).json.result.tools.map((tool: { name: string }) => tool.name);
  };
  expect(await names("?readonly=1")).toEqual(["echo_sighting", "page_sightings", "count_sightings", "route_sighting"]);
  expect(await names("?toolsets=writing")).toEqual(["drop_sighting", "fail_sighting", "wait_for_sighting"]);
  const { body, headers } = modern("tools/call", { name: "fail_sighting", arguments: { code: 3 } });
  const { result } = (await post(`${endpoint}?readonly=1`, body, headers)).json;
  expect([result.isError, result.content[0].text]).toEqual([true, expect.stringContaining("readonly=1 in the URL")]);
});

test("output schemas are listed on request only", async () => {
  const { body, headers } = modern("tools/list");
  const plain = (await post(endpoint, body, headers)).json.result.tools;
  const full = (await post(`${endpoint}?output_schemas=1`, body, headers)).json.result.tools;
  expect(plain.some((tool: object) => "outputSchema" in tool)).toBe(false);
  expect(full.every((tool: { outputSchema: { type: string } }) => tool.outputSchema.type === "object")).toBe(true);
  expect(full[1].outputSchema.properties.truncated).toMatchObject({ type: "boolean" });
});

test("a call answers with structured content and the same JSON as text", async () => {
  const args = { sighting: { id: "s", severity: "high", seen_at: "2026-07-28T09:30:00Z", sensor: 'a "quoted" é' } };
  const { body, headers } = modern("tools/call", { name: "echo_sighting", arguments: args }, 7);
  const { json, status } = await post(endpoint, body, headers);
  expect(status).toBe(200);
  expect(json.id).toBe(7);
  const { structuredContent, content, resultType } = json.result;
  expect(resultType).toBe("complete");
  expect(JSON.parse(content[0].text)).toEqual(structuredContent);
  expect(structuredContent.sighting).toMatchObject(args.sighting);
  expect("isError" in json.result).toBe(false);
});

test("a name may be sent encoded", async () => {
  const encoded = `=?base64?${Buffer.from("echo_sighting").toString("base64")}?=`;
  const { body, headers } = call({ "mcp-name": encoded });
  expect((await post(endpoint, body, headers)).json.result.structuredContent.word).toBe("hi");
});

test("a subscription is acknowledged empty and ended", async () => {
  const { body, headers } = modern("subscriptions/listen", { notifications: { toolsListChanged: true } }, "listen:0");
  const { text } = await post(endpoint, body, headers);
  expect(eventsOf(text)).toEqual([
    {
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
      params: { notifications: {}, _meta: { [`${KEY}/subscriptionId`]: "listen:0" } },
    },
    {
      jsonrpc: "2.0",
      id: "listen:0",
      result: {
        resultType: "complete",
        _meta: expect.objectContaining({ [`${KEY}/subscriptionId`]: "listen:0" }),
      },
    },
  ]);
});

test("a notification is taken without a word", async () => {
  const body = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1, _meta: envelope() } };
  const answer = await post(endpoint, body, { "mcp-protocol-version": "2026-07-28" });
  expect(answer).toMatchObject({ status: 202, text: "" });
  expect(answer.headers.get("content-type")).toBeNull();
});

test("a token without the scope of a visible tool is challenged for all that it needs", async () => {
  server.keys.add("reader", { scopes: new Set([...CTI].filter((scope) => scope !== "cti:write")) });
  const message = modern("tools/call", { name: "drop_sighting", arguments: { id: "1" } });
  const { status, headers, json } = await post(endpoint, message.body, {
    ...message.headers,
    authorization: "Bearer reader",
  });
  expect({ status, id: json.id, word: json.error.data.error }).toEqual({
    status: 403,
    id: 1,
    word: "insufficient_scope",
  });
  expect(headers.get("www-authenticate")).toBe(
    'Bearer error="insufficient_scope", scope="cti:read cti:write", resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/base/mcp/cti"',
  );
});
