import { randomBytes } from "node:crypto";
import { createKeyFormat, DEFAULT_KEY_PREFIX } from "../../../services/shared/credentials/format.js";
import { type Hostile, overTcp } from "../hostile.js";

// Who has no key, or a key of his own, and means harm. One row a kind: what a
// connection does until it is thrown out; then another one takes its place.

const JSON_TYPE = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
const LIST = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });
const format = createKeyFormat(DEFAULT_KEY_PREFIX);
const MEBI = 1 << 20;

const unknownKey = (): string => `Authorization: Bearer ${format.mint().token}\r\n`;
const keyOf = (key: string): string => `Authorization: Bearer ${key}\r\n`;
const head = (path: string, length: number | "chunked", extra = "", method = "POST"): string =>
  `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${JSON_TYPE}${
    length === "chunked" ? "Transfer-Encoding: chunked" : `Content-Length: ${length}`
  }\r\n${extra}\r\n`;

/** Promises a body of 1 MiB and sends a byte a second. */
const slowBody = (path: string, extra: (key: string) => string): Hostile =>
  overTcp((socket, { key }, every) => {
    socket.write(head(path, MEBI, extra(key)));
    every(1_000, () => socket.write(" "));
  });

/** Sends the same again as soon as it is answered. */
const again = (request: (key: string) => string | Buffer): Hostile =>
  overTcp((socket, { key }) => {
    socket.on("data", () => socket.write(request(key)));
    socket.write(request(key));
  });

/** Sends without end and as fast as it is taken, without looking at what it is told. */
const pour = (first: string, piece: string | Buffer): Hostile =>
  overTcp((socket) => {
    const more = (): void => {
      while (socket.writable && socket.write(piece)) if (socket.writableLength > MEBI) return;
    };
    socket.on("drain", more);
    socket.write(first, more);
  });

const nothing = (): string => "";
const zeros = Buffer.alloc(64 << 10, 0x20);
const deep = (key: string): string => {
  const text = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"whoami","arguments":${"[".repeat(200_000)}${"]".repeat(200_000)}}}`;
  return head("/mcp/core", text.length, keyOf(key)) + text;
};

/** Every kind of hostile connection to the façade's port, by its name. */
export const HTTP_KINDS: Readonly<Record<string, Hostile>> = {
  "says nothing": overTcp(() => undefined),
  "a header a second": overTcp((socket, _target, every) => {
    socket.write("POST /mcp/cti HTTP/1.1\r\nHost: 127.0.0.1\r\n");
    every(1_000, () => socket.write(`X-${randomBytes(4).toString("hex")}: 1\r\n`));
  }),
  "headers without end": pour("POST /mcp/cti HTTP/1.1\r\nHost: 127.0.0.1\r\n", `X-A: ${"a".repeat(1000)}\r\n`),
  "slow body, no token": slowBody("/mcp/cti", nothing),
  "slow body, malformed token": slowBody("/mcp/cti", () => "Authorization: Bearer nothing\r\n"),
  "slow body, unknown key": slowBody("/mcp/cti", unknownKey),
  "slow body, variable for a token": slowBody("/mcp/cti", () => "Authorization: Bearer {env:KEY}\r\n"),
  "slow body, foreign origin": slowBody("/mcp/cti", () => "Origin: https://evil.example\r\n"),
  "slow body, unknown endpoint": slowBody("/mcp/nothing", nothing),
  "slow body, unknown path": slowBody("/nothing", nothing),
  "slow body, /rpc": slowBody("/rpc/core.v1.AgentService/ListAgents", nothing),
  "slow body, /rpc, unknown key": slowBody("/rpc/core.v1.AgentService/ListAgents", unknownKey),
  "slow body, registration": slowBody("/api/v1/platform/register", () => "Authorization: Bearer none\r\n"),
  "slow body, a good key": slowBody("/mcp/core", keyOf),
  "slow body, a good key, /rpc": slowBody("/rpc/core.v1.AgentService/ListAgents", keyOf),
  "chunks without end": pour(head("/mcp/cti", "chunked"), `10000\r\n${"x".repeat(65_536)}\r\n`),
  "a long body, no token": pour(head("/mcp/cti", 1 << 30), zeros),
  "a long body, unknown path": pour(head("/nothing", 1 << 30), zeros),
  "a long body, /rpc": pour(head("/rpc/core.v1.AgentService/ListAgents", 1 << 30), zeros),
  "half a request, then its end": overTcp((socket) => void socket.end(head("/mcp/cti", 100) + LIST.slice(0, 20))),
  "no token, again and again": again(() => head("/mcp/cti", LIST.length) + LIST),
  "unknown keys, again and again": again(() => head("/mcp/cti", LIST.length, unknownKey()) + LIST),
  "a connection a request": overTcp((socket) => {
    socket.on("data", () => socket.destroy());
    socket.write(head("/mcp/cti", LIST.length, unknownKey()) + LIST);
  }),
  "a thousand at once, none read": overTcp((socket) => {
    socket.pause();
    socket.write((head("/mcp/cti", LIST.length) + LIST).repeat(1_000));
  }),
  "documents, none read": overTcp((socket) => {
    socket.pause();
    socket.write("GET /.well-known/oauth-protected-resource/mcp/cti HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".repeat(1_000));
  }),
  registrations: again(() => {
    const token = randomBytes(32).toString("base64url");
    return `${head("/api/v1/platform/register", 2, `Authorization: Bearer ${token}\r\n`)}{}`;
  }),
  "two lengths": again(() => head("/mcp/cti", 10, "Content-Length: 20\r\n") + LIST),
  noise: overTcp((socket, _target, every) => every(10, () => socket.write(randomBytes(256)))),
  "a good key's flood of calls": again((key) => {
    const text = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "list_agents", arguments: {} },
    });
    return head("/mcp/core", text.length, keyOf(key)) + text;
  }),
  "a good key's deep JSON": again(deep),
};
