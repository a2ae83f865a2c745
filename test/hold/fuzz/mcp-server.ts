import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { openSession, type Session } from "../../../services/core-objects/runs/apart/mcp-session.js";
import { LOOPBACK } from "../../support/outgoing.js";
import { changedBytes, changedJson, Random } from "./random.js";
import { type FuzzTarget, wordsOf } from "./target.js";

/** Calls of one session before it is opened again, so that the opening is fuzzed too. */
const CALLS = 50;
/** How long a call is waited for whose answer never comes, in milliseconds. */
const CALL_MS = 200;
/** An input that takes longer never ends. */
const PATIENCE_MS = 20_000;

const RESULTS: Readonly<Record<string, unknown>> = {
  initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "f", version: "1" } },
  "tools/list": { tools: [{ name: "find", description: "Finds.", inputSchema: { type: "object", properties: {} } }] },
  "tools/call": { content: [{ type: "text", text: "found" }], structuredContent: { found: 1 }, isError: false },
};

/** Servers at once: most of the time is spent on answers that never come. */
const SERVERS = 64;

/** Remote MCP servers whose answers are changed, over sockets, in front of the client that runs use. */
export async function fuzzMcpServers(): Promise<FuzzTarget> {
  const refusals = new Set<string>();
  const servers = await Promise.all(Array.from({ length: SERVERS }, () => startServer(refusals)));
  const free = [...servers];
  return {
    name: "answers of MCP servers",
    refusals,
    atOnce: SERVERS,
    async one(random) {
      const server = free.pop()!;
      const problem = await server.one(random);
      free.push(server);
      return problem;
    },
    async close() {
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}

async function startServer(refusals: Set<string>): Promise<Pick<FuzzTarget, "one" | "close">> {
  let random = new Random(1);
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      const { id, method } = readRequest(Buffer.concat(pieces));
      if (id === undefined) return void response.writeHead(202).end();
      const answer = { jsonrpc: "2.0", id, result: RESULTS[method] ?? {} };
      // A server that does not begin well is waited for: few do.
      const isWell = method === "initialize" ? !random.once(20) : random.once(4);
      const said = isWell ? answer : changedJson(answer, random);
      const text = Buffer.from(JSON.stringify(said) ?? "");
      const body = !isWell && random.once(4) ? changedBytes(text, random) : text;
      const isStream = random.once(3);
      const status = !isWell && random.once(12) ? random.pick([202, 204, 302, 400, 401, 404, 405, 429, 500, 503]) : 200;
      const type = isStream ? "text/event-stream" : !isWell && random.once(12) ? "text/html" : "application/json";
      response.writeHead(status, { "content-type": type, ...(random.once(9) && { "mcp-session-id": "s" }) });
      response.end(isStream ? Buffer.concat([Buffer.from("event: message\ndata: "), body, Buffer.from("\n\n")]) : body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  let session: Session | undefined;
  let calls = 0;

  async function ask(): Promise<void> {
    session ??= await openSession({ url, transport: "streamable_http", headers: {}, policy: LOOPBACK });
    await session.use(
      async (client): Promise<unknown> =>
        random.once(3)
          ? client.listTools({}, { timeout: CALL_MS })
          : client.callTool({ name: "find", arguments: {} }, undefined, { timeout: CALL_MS }),
    );
  }

  return {
    async one(chance) {
      random = chance;
      const startedAt = Date.now();
      try {
        await ask();
      } catch (error) {
        refusals.add(wordsOf((error as Error).message));
        await session?.close();
        session = undefined;
        if (!(error instanceof Error)) return `it threw ${String(error)}`;
      }
      if (++calls % CALLS === 0) {
        await session?.close();
        session = undefined;
      }
      const took = Date.now() - startedAt;
      return took > PATIENCE_MS ? `it was waited for ${took} ms` : undefined;
    },
    async close() {
      await session?.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function readRequest(body: Buffer): { readonly id?: unknown; readonly method: string } {
  try {
    return JSON.parse(body.toString()) as { id?: unknown; method: string };
  } catch {
    return { method: "" };
  }
}
