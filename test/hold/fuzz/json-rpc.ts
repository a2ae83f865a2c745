import { connect } from "node:net";
import { create, type DescMethodUnary } from "@bufbuild/protobuf";
import { Pool } from "undici";
import { silentLog } from "../../../services/shared/process/log.js";
import { mountInProcess } from "../../../services/shared/rpc/in-process.js";
import { type Method, serverStream, unary } from "../../../services/shared/rpc/method.js";
import { readImage } from "../../../services/shared/tools/image.js";
import { readTools, type Tool } from "../../../services/shared/tools/tools.js";
import { createKeys } from "../../facade/support/credentials.js";
import { createWorld, fixtureMethods } from "../../facade/support/services.js";
import { start } from "../../facade/support/start.js";
import { changedBytes, changedJson, type Random } from "./random.js";
import { type FuzzTarget, wordsOf } from "./target.js";

const SERVERS = ["cti", "aev", "grc", "core"];
const VERSIONS = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-01-01", ""];
const META = "io.modelcontextprotocol";
const SOCKETS = 32;

/**
 * The façade with every tool of the API, over real sockets: requests of both
 * eras with their members changed, their bytes changed, and at times bytes that
 * are no HTTP. The tools behind check their rules and answer nothing.
 */
export async function fuzzJsonRpc(): Promise<FuzzTarget> {
  const image = readImage();
  const tools = readTools(image);
  const keys = createKeys();
  const world = createWorld();
  world.visible.set(
    "*",
    tools.map(({ name }) => name),
  );
  const steps = { authenticator: keys.authenticator, log: silentLog };
  const methods = [...fixtureMethods(world, SERVERS).slice(0, FIXED), ...tools.map(answerNothing)];
  const scopes = new Set(["account", "public", ...SERVERS.flatMap((name) => [`${name}:read`, `${name}:write`])]);
  keys.add("everything", { scopes });
  const server = await start({ dispatch: mountInProcess(methods, steps), credentials: keys, image });
  const pool = new Pool(`http://127.0.0.1:${server.port}`, { connections: SOCKETS, pipelining: 1 });

  const refusals = new Set<string>();
  return {
    name: "JSON-RPC",
    refusals,
    async one(random) {
      if (random.once(500)) return noHttp(server.port, random);
      const { body, headers } = requestOf(tools, random);
      try {
        const reply = await pool.request({
          method: "POST",
          path: `/base/mcp/${random.pick(SERVERS)}`,
          headers: { authorization: "Bearer everything", "content-type": "application/json", ...headers },
          body,
        });
        const text = await reply.body.text();
        const refusal = refusalIn(reply.statusCode, text);
        if (refusal !== undefined) refusals.add(refusal);
        if (reply.statusCode < 500 && !text.includes('"code":-32603')) return undefined;
        return `${reply.statusCode} ${text.slice(0, 200)} to ${body.toString().slice(0, 500)}`;
      } catch (error) {
        return `no answer: ${(error as Error).message} to ${body.toString().slice(0, 500)}`;
      }
    },
    async close() {
      await pool.destroy();
      await server.close();
    },
  };
}

/** Why a request was not answered as it wanted, in words: those of JSON-RPC, of HTTP, or of a tool. */
function refusalIn(status: number, text: string): string | undefined {
  const code = /"code":(-\d+)/.exec(text)?.[1];
  const message = /"(?:message|text)":"((?:[^"\\]|\\.)*)/.exec(text)?.[1] ?? "";
  const isRefused = status >= 400 || code !== undefined || text.includes('"isError":true');
  return isRefused ? `${status} ${code ?? ""} ${wordsOf(message)}` : undefined;
}

/** How many of the fixture's methods are those of catalogue and auth. */
const FIXED = 4;

function answerNothing({ method }: Tool): Method {
  if (method.methodKind === "unary") return unary(method as DescMethodUnary, () => create(method.output));
  return serverStream(method, async function* () {
    yield create(method.output, { event: { case: "result", value: {} } } as never);
  });
}

function requestOf(tools: readonly Tool[], random: Random): { body: Buffer; headers: Record<string, string> } {
  const version = random.once(2) ? VERSIONS[0] : random.pick(VERSIONS);
  const tool = random.pick(tools);
  const method = random.once(2)
    ? "tools/call"
    : random.pick(["tools/list", "initialize", "ping", "server/discover", "x"]);
  const params = {
    ...(method === "tools/call" && { name: tool.name, arguments: argumentsOf(tool, random) }),
    ...(method === "initialize" && {
      protocolVersion: version,
      capabilities: {},
      clientInfo: { name: "f", version: "1" },
    }),
    _meta: {
      progressToken: 1,
      ...(version === VERSIONS[0] && {
        [`${META}/protocolVersion`]: version,
        [`${META}/clientInfo`]: { name: "fuzz", version: "1" },
        [`${META}/clientCapabilities`]: {},
      }),
    },
  };
  const message: unknown = { jsonrpc: "2.0", id: random.int(1_000), method, params };
  const sent = random.once(20) ? Array.from({ length: random.int(120) }, () => message) : message;
  const text = JSON.stringify(random.once(5) ? sent : changedJson(sent, random));
  const body = random.once(5) ? changedBytes(Buffer.from(text), random) : Buffer.from(text);
  const headers = {
    ...(version !== "" && !random.once(10) && { "mcp-protocol-version": version as string }),
    ...(!random.once(5) && { "mcp-method": method }),
    ...(method === "tools/call" && !random.once(5) && { "mcp-name": tool.name }),
    ...(!random.once(3) && { accept: "application/json, text/event-stream" }),
  };
  return { body, headers };
}

/** An argument for most of what the schema has. */
function argumentsOf({ listing }: Tool, random: Random): Record<string, unknown> {
  const properties = Object.entries(listing.inputSchema.properties ?? {});
  const given = properties.filter(() => !random.once(3));
  return Object.fromEntries(given.map(([name, schema]) => [name, exampleOf(schema as Schema, random)]));
}

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
}

function exampleOf(schema: Schema, random: Random): unknown {
  if (schema.enum !== undefined) return random.pick(schema.enum);
  switch (schema.type) {
    case "string":
      if (schema.format === "uuid") return "2cffad3a-0001-4078-b0e2-ef74274022c3";
      return schema.format === "date-time" ? "2026-07-28T09:30:00Z" : "text";
    case "integer":
    case "number":
      return random.int(100);
    case "boolean":
      return random.once(2);
    case "array":
      return Array.from({ length: random.int(4) }, () => exampleOf(schema.items ?? {}, random));
    default:
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, one]) => [name, exampleOf(one, random)]),
      );
  }
}

/** Bytes that are no HTTP, on a connection of their own: whatever becomes of it, it ends. */
function noHttp(port: number, random: Random): Promise<undefined> {
  return new Promise((resolve) => {
    const request = Buffer.from("POST /base/mcp/cti HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{}");
    const socket = connect(port, "127.0.0.1", () => socket.end(changedBytes(request, random)));
    socket.on("data", () => undefined);
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(undefined));
    socket.setTimeout(1_000, () => socket.destroy());
  });
}
