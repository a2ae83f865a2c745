import { randomUUID } from "node:crypto";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Listening, listen, runLoad } from "./support/servers.js";

let server: Listening;
const sessions = new Map<string, StreamableHTTPServerTransport>();

/** A server of the official SDK, with a session for each client. */
async function session(): Promise<StreamableHTTPServerTransport> {
  const mcp = new McpServer({ name: "another", version: "3.2.1" });
  mcp.registerTool("ping_me", { description: "Answers." }, async ({ _meta, sendNotification }) => {
    const progressToken = _meta?.progressToken;
    if (progressToken !== undefined) {
      await sendNotification({ method: "notifications/progress", params: { progressToken, progress: 1 } });
    }
    return { content: [{ type: "text", text: "pong" }] };
  });
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => void sessions.set(id, transport),
  });
  // The SDK's own types differ under exactOptionalPropertyTypes.
  await mcp.connect(transport as Transport);
  return transport;
}

beforeAll(async () => {
  server = await listen(async (request, response) => {
    const id = request.headers["mcp-session-id"];
    const transport = typeof id === "string" ? sessions.get(id) : await session();
    if (transport === undefined) response.writeHead(404).end();
    else await transport.handleRequest(request, response);
  });
});
afterAll(() => server.close());

test("a server of the official SDK is measured, with a session for each connection", async () => {
  const report = await runLoad([
    ...["--url", server.url, "--eras", "2025-11-25", "--tool", "ping_me", "--mix", "list=1,call=1,progress=1"],
    ...["--rate", "60", "--seconds", "1", "--warmup", "0", "--connections", "3"],
  ]);
  expect(report.failures).toEqual([]);
  expect(report.requests).toEqual({ due: 60, good: 60, failed: 0 });
  expect(report.server).toBe("another 3.2.1");
  expect(sessions.size).toBe(3);
  // This server answers everything by an event stream.
  for (const { good, streams } of report.operations) expect([good, streams]).toEqual([20, 20]);
});

test("a revision that it does not speak is reported before the run", async () => {
  await expect(runLoad(["--url", server.url, "--eras", "2026-07-28", "--tool", "ping_me"])).rejects.toThrow(
    /The run did not begin: list in 2026-07-28 failed with http_400/,
  );
});
