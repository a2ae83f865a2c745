import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Started, start } from "./support/start.js";

let server: Started;
let url: URL;

beforeAll(async () => {
  server = await start();
  url = new URL(`${server.url}/mcp/cti?output_schemas=1`);
});
afterAll(() => server.close());

const requestInit = { headers: { authorization: "Bearer good" } };
const NAMES = [
  "echo_sighting",
  "page_sightings",
  "count_sightings",
  "route_sighting",
  "drop_sighting",
  "fail_sighting",
  "wait_for_sighting",
];

test.each([
  ["auto", "2026-07-28", { mode: "auto" as const }],
  ["pinned", "2026-07-28", { mode: { pin: "2026-07-28" } }],
  ["legacy", "2025-11-25", { mode: "legacy" as const }],
])("the official client works in mode %s, in version %s", async (_mode, version, versionNegotiation) => {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation });
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  expect(client.getNegotiatedProtocolVersion()).toBe(version);
  const { tools } = await client.listTools();
  expect(tools.map((tool) => tool.name)).toEqual(NAMES);
  const told: number[] = [];
  const counted = await client.callTool(
    { name: "count_sightings", arguments: { steps: 3, step_ms: 120 } },
    { onprogress: ({ progress }) => told.push(progress) },
  );
  expect(counted.structuredContent).toEqual({ counted: 3 });
  expect(told).toEqual([1, 2, 3]);
  const routed = await client.callTool({ name: "route_sighting", arguments: { region: "eu", rank: 3 } });
  expect(routed.structuredContent).toEqual({ region: "eu" });
  const cut = await client.callTool({ name: "page_sightings", arguments: { page_size: 1_000 } });
  expect(cut.structuredContent).toMatchObject({ truncated: true });
  await expect(client.callTool({ name: "no_such" })).rejects.toThrow(/Unknown tool/);
  await client.close();
});

test("the client of the previous generation works", async () => {
  const client = new OldClient({ name: "test", version: "1" });
  await client.connect(new OldTransport(url, { requestInit }) as never);
  expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual(NAMES);
  const told: number[] = [];
  const counted = await client.callTool({ name: "count_sightings", arguments: { steps: 3, step_ms: 120 } }, undefined, {
    onprogress: ({ progress }) => told.push(progress),
  });
  expect(counted.structuredContent).toEqual({ counted: 3 });
  expect(told).toEqual([1, 2, 3]);
  await client.ping();
  const failed = await client.callTool({ name: "fail_sighting", arguments: { code: 5 } });
  expect(failed.isError).toBe(true);
  await expect(client.callTool({ name: "no_such" })).rejects.toThrow(/Unknown tool/);
  await client.close();
});

test("a client with a bad key is told so", async () => {
  const client = new Client({ name: "test", version: "1" });
  const transport = new StreamableHTTPClientTransport(url, {
    requestInit: { headers: { authorization: "Bearer bad" } },
  });
  await expect(client.connect(transport)).rejects.toThrow();
});
