import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ConnectionState } from "#proto/core/v1/connection_pb.js";
import { IntegrationService, IntegrationType } from "#proto/core/v1/integration_service_pb.js";
import { McpServerService } from "#proto/core/v1/mcp_server_service_pb.js";
import type { IntegrationRecord } from "../../../services/core-objects/kinds/integrations/record.js";
import { PUBLIC_ONLY } from "../../../services/shared/outgoing/policy.js";
import { refusal } from "./refusal.js";
import { as, type Rig, startRig } from "./rig.js";

// What a test of a connection says, of a service of models and of an MCP server that are here.

const CREDENTIAL = "sk-sentinel-of-a-connection";
let rig: Rig;
let server: Server;
let url: string;

const MCP: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "wiki", version: "1" },
  },
  "tools/list": { tools: [{ name: "find_page", inputSchema: { type: "object" } }] },
};

beforeAll(async () => {
  rig = await startRig();
  server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const { authorization } = request.headers;
    response.setHeader("content-type", "application/json");
    if (request.url === "/moved/models")
      return void response.writeHead(302, { location: "http://169.254.169.254/" }).end();
    if (authorization !== `Bearer ${CREDENTIAL}`)
      return void response.writeHead(401).end(JSON.stringify({ error: { message: `not ${authorization}` } }));
    if (request.url === "/v1/models")
      return void response.end(JSON.stringify({ data: [{ id: "large" }, { id: "small" }] }));
    if (request.method !== "POST") return void response.writeHead(405).end();
    const { id, method } = JSON.parse(body) as { id?: number; method: string };
    if (id === undefined) return void response.writeHead(202).end();
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result: MCP[method] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await rig.close();
  server.closeAllConnections();
  server.close();
});

const { createIntegration, testIntegration, getIntegration, listIntegrations, updateIntegration } =
  IntegrationService.method;
const { createMcpServer, testMcpServer, getMcpServer } = McpServerService.method;

async function integration(more: object = {}): Promise<string> {
  const request = { name: "Models", type: IntegrationType.OPENAI, endpoint: `${url}/v1`, models: ["large"] };
  const made = await rig.dispatch.unary(
    createIntegration,
    { ...request, credential: CREDENTIAL, ...more },
    as("alice"),
  );
  return made.integration!.id;
}
const tested = (integrationId: string, who = "alice") =>
  rig.dispatch.unary(testIntegration, { integrationId }, as(who));
const read = async (integrationId: string) =>
  (await rig.dispatch.unary(getIntegration, { integrationId }, as("alice"))).integration!;

test("an integration that answers is connected, for a day, and until it leads elsewhere", async () => {
  const id = await integration({ models: ["large", "huge"] });
  const before = await read(id);
  expect([before.connection, before.testedAt]).toEqual([undefined, undefined]);
  expect(await tested(id)).toMatchObject({
    connection: ConnectionState.CONNECTED,
    error: "it does not list huge",
    models: ["large", "small"],
  });
  expect(await read(id)).toMatchObject({ connection: ConnectionState.CONNECTED, etag: before.etag });
  const { integrations } = await rig.dispatch.unary(listIntegrations, {}, as("alice"));
  expect(integrations[0]).toMatchObject({ id, connection: ConnectionState.CONNECTED });
  const yesterday = new Date(Date.now() - 86_400_001);
  await rig.store
    .collection<IntegrationRecord>("integrations")
    .updateOne({ _id: id }, { $set: { "connection.tested_at": yesterday } });
  expect((await read(id)).connection).toBe(ConnectionState.STALE);
  await rig.dispatch.unary(updateIntegration, { integrationId: id, credential: "another-credential" }, as("alice"));
  expect((await read(id)).connection).toBeUndefined();
});

test.each([
  ["a wrong credential", { credential: "sk-wrong-sentinel-value" }, "it refused the credential (HTTP 401)"],
  ["a redirect", { endpoint: "moved" }, "HTTP 302"],
  ["nobody there", { endpoint: "http://127.0.0.1:4/v1" }, ""],
])("of %s the test says so, without the credential", async (_what, more, said) => {
  const endpoint = "endpoint" in more && more.endpoint === "moved" ? { endpoint: `${url}/moved` } : more;
  const answer = await tested(await integration({ ...more, ...endpoint }));
  expect(answer.connection).toBe(ConnectionState.DISCONNECTED);
  expect(answer.error).toContain(said);
  expect(answer.error).not.toMatch(/sentinel/);
});

test("whoever may use it may test it, and nobody else", async () => {
  const id = await integration({ sharing: [{ to: "user:bob", tier: 1 }] });
  expect((await tested(id, "bob")).connection).toBe(ConnectionState.CONNECTED);
  expect((await refusal(tested(id, "carl")))[0]).toBe("NotFound");
});

test("an MCP server is connected to as a run would, and its tools are named", async () => {
  const request = {
    name: "wiki",
    url: `${url}/mcp`,
    headers: [{ name: "Authorization", value: `Bearer ${CREDENTIAL}` }],
  };
  const { mcpServer } = await rig.dispatch.unary(createMcpServer, request, as("alice"));
  const about = { mcpServerId: mcpServer!.id };
  expect(await rig.dispatch.unary(testMcpServer, about, as("alice"))).toMatchObject({
    connection: ConnectionState.CONNECTED,
    tools: ["find_page"],
  });
  const after = (await rig.dispatch.unary(getMcpServer, about, as("alice"))).mcpServer!;
  expect(after).toMatchObject({ connection: ConnectionState.CONNECTED, etag: mcpServer!.etag });
  const other = { ...request, name: "locked", headers: [{ name: "Authorization", value: "Bearer sk-wrong-sentinel" }] };
  const locked = await rig.dispatch.unary(createMcpServer, other, as("alice"));
  const answer = await rig.dispatch.unary(testMcpServer, { mcpServerId: locked.mcpServer!.id }, as("alice"));
  expect(answer.connection).toBe(ConnectionState.DISCONNECTED);
  expect(answer.error).not.toContain("sentinel");
});

test("the operator's log says what a closed address is, and the caller hears only that it is closed", async () => {
  const folder = await mkdtemp(join(tmpdir(), "closed-"));
  // Both were written down while loopback was listed.
  const before = await startRig({ folder });
  const endpoint = "http://127.0.0.1:4/v1?token=sentinel-of-a-url";
  const { integration: made } = await before.dispatch.unary(
    createIntegration,
    {
      name: "Models",
      type: IntegrationType.OPENAI,
      endpoint: "http://127.0.0.1:4/v1",
      models: ["large"],
      credential: CREDENTIAL,
    },
    as("alice"),
  );
  const { mcpServer } = await before.dispatch.unary(createMcpServer, { name: "wiki", url: endpoint }, as("alice"));
  await before.close();

  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: "info" }, { write: (line) => void lines.push(JSON.parse(line)) });
  const after = await startRig({ folder, log, outgoing: PUBLIC_ONLY });
  const answers = [
    await after.dispatch.unary(testIntegration, { integrationId: made!.id }, as("alice")),
    await after.dispatch.unary(testMcpServer, { mcpServerId: mcpServer!.id }, as("alice")),
  ];
  for (const { error } of answers) {
    expect(error).toContain("leads to a closed address");
    expect(error).not.toContain("is a loopback address");
  }
  const refused = lines.filter(({ msg }) => msg === "the address of a remote is closed");
  const said = {
    owner: "alice",
    detail: "127.0.0.1 is a loopback address",
    reason: expect.stringContaining("127.0.0.1:4"),
  };
  expect(refused).toMatchObject([
    { remote: expect.stringContaining(made!.id), ...said },
    { remote: expect.stringContaining(mcpServer!.id), ...said },
  ]);
  for (const secret of [CREDENTIAL, "sentinel-of-a-url"]) expect(JSON.stringify(lines)).not.toContain(secret);
  await after.close();
  await rm(folder, { recursive: true, force: true });
});
