#!/usr/bin/env node

// Passes MCP messages between the program that starts it (stdio) and a server (Streamable HTTP), as they are.
// It needs Node 18 and no packages. Standard output has MCP only, and the key is written nowhere.
const http = require("node:http");
const https = require("node:https");

const MAX_BYTES = 32 * 1024 * 1024;
/** Connections to the server; the requests that find none free wait for one. */
const MAX_CONNECTIONS = 100;
/** A program with more requests open is not read. */
const MAX_OPEN = 1000;
/** Servers and proxies keep an idle connection for longer: a message is not sent into one that they are closing. */
const IDLE_MS = 4000;
const ERA = "io.modelcontextprotocol/protocolVersion";
const NAMED_BY = { "tools/call": "name", "prompts/get": "name", "resources/read": "uri" };
const NOT_KNOWN = "Whether the service did the work is not known.";
const REFUSED = {
  401: "The service refused the API key: set a valid one.",
  403: "This API key may not use this endpoint.",
  429: "Too many requests: wait and try again.",
};

// biome-ignore lint/suspicious/noConsole: standard error is the log of an extension.
const log = (...words) => console.error("[bridge]", ...words);

const endpoint = new URL(process.env.SERVICE_MCP_URL || "http://nowhere");
const key = process.env.SERVICE_API_KEY || "";
// A program that does not know the value passes the name of the variable.
const hasKey = /^[\x21-\x7e]+$/.test(key) && !key.startsWith("$");
if (endpoint.protocol !== "https:" && !["localhost", "127.0.0.1", "[::1]"].includes(endpoint.hostname)) {
  log("SERVICE_MCP_URL must be the https URL of an MCP endpoint");
  process.exit(1);
}
const [net, CONNECTED] = endpoint.protocol === "https:" ? [https, "secureConnect"] : [http, "connect"];
const agent = new net.Agent({ keepAlive: true, timeout: IDLE_MS, maxSockets: MAX_CONNECTIONS });

/** Requests without an answer, by the JSON of their id: "1" and 1 are two. */
const calls = new Map();
let oneEnded = () => undefined;
/** The revision that initialize chose; requests of 2026-07-28 and later name their own. The service has no sessions. */
let negotiated;

// One writer of whole lines, which waits while the program does not read.
let written = Promise.resolve();
function write(message) {
  // Some programs end a line at these two characters as well.
  const line = JSON.stringify(message).replace(/[\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16)}`);
  const once = (done) => (process.stdout.write(`${line}\n`) ? done() : process.stdout.once("drain", done));
  written = written.then(() => new Promise(once));
  return written;
}
const fail = (id, code, message, data) => write({ jsonrpc: "2.0", id, error: { code, message, data } });

const eraOf = ({ params }) => params?._meta?.[ERA];
/** A value in a header (MCP 2026-07-28, "Mcp-Name"). */
function inHeader(value) {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !/^=\?base64\?.*\?=$/.test(value);
  return isPlain ? value : `=?base64?${Buffer.from(value).toString("base64")}?=`;
}

function headersOf(message) {
  const { method, params } = message;
  const own = eraOf(message);
  const era = own ?? (method === "initialize" ? undefined : negotiated);
  const name = params?.[NAMED_BY[method]];
  return {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    authorization: `Bearer ${key}`,
    "user-agent": "sallyport-bridge",
    ...(era && { "mcp-protocol-version": String(era) }),
    ...(own && method && { "mcp-method": inHeader(method) }),
    ...(own && typeof name === "string" && { "mcp-name": inHeader(name) }),
  };
}

/** Sends a message, once, and writes what comes back. A request has exactly one answer, or none if it is cancelled. */
async function forward(message) {
  const { id, method, params } = message;
  const isRequest = method !== undefined && id !== undefined;
  const call = { id: JSON.stringify(id), isRequest, era: eraOf(message), isOver: !isRequest };
  if (method === "notifications/cancelled") {
    const cancelled = calls.get(JSON.stringify(params?.requestId)) ?? {};
    cancelled.isOver = true;
    // The end of its connection cancels a request that names its revision.
    if (cancelled.era) return cancelled.request?.destroy();
  }
  if (isRequest) calls.set(call.id, call);
  try {
    if (!hasKey) throw new Error("No API key is set: enter one in the settings of this extension.");
    for await (const reply of repliesTo(message, call)) {
      const isAnswer = isRequest && reply.method === undefined && JSON.stringify(reply.id) === call.id;
      if (isAnswer && call.isOver) continue;
      if (isAnswer) call.isOver = true;
      if (isAnswer && method === "initialize") negotiated = reply.result?.protocolVersion;
      await write(reply);
    }
    throw new Error(`The service closed the connection before it answered. ${NOT_KNOWN}`);
  } catch (error) {
    if (!call.isOver) await fail(id, -32000, error.message, error.data);
  } finally {
    if (calls.get(call.id) === call) calls.delete(call.id);
    oneEnded();
  }
}

/** @throws Error with a sentence for the person. */
async function* repliesTo(message, call) {
  try {
    const response = await new Promise((resolve, reject) => {
      call.request = net.request(endpoint, { method: "POST", agent, headers: headersOf(message) }, resolve);
      call.request.on("socket", (socket) => socket.once(CONNECTED, () => (call.isConnected = true)));
      call.request.on("error", reject).end(JSON.stringify(message));
    });
    const { statusCode: status, headers } = response;
    if (/^text\/event-stream\b/.test(headers["content-type"])) return yield* eventsOf(response);
    const reply = await wholeOf(response);
    if (!call.isRequest) return void (status >= 300 && log(message.method, "was refused with HTTP", status));
    // An error of JSON-RPC passes as it is, with any status: clients choose their revision by it.
    if (reply?.result !== undefined || reply?.error) return yield { ...reply, id: reply.id ?? message.id };
    const said = REFUSED[status] || `The service answered HTTP ${status}. ${NOT_KNOWN}`;
    throw Object.assign(new Error(said), { data: { httpStatus: status, retryAfter: headers["retry-after"] } });
  } catch (error) {
    if (error.data) throw error;
    const why = error.code || error.message;
    if (!call.isConnected && !call.request?.reusedSocket)
      throw new Error(`${endpoint.host} cannot be reached (${why}). Nothing was done.`);
    throw new Error(`The answer of ${endpoint.host} is lost (${why}). ${NOT_KNOWN}`);
  }
}

/** @returns the body as JSON; undefined if it is something else. */
async function wholeOf(response) {
  let text = "";
  for await (const piece of response.setEncoding("utf8")) {
    text += piece;
    if (text.length > MAX_BYTES) throw new Error("it is too long");
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The messages of an event stream (HTML Living Standard, section 9.2.6). */
async function* eventsOf(response) {
  let text = "";
  let data = [];
  for await (const piece of response.setEncoding("utf8")) {
    text += piece;
    if (text.length > MAX_BYTES) throw new Error("an event is too long");
    const lines = text.split(/\r\n|\n|\r(?!$)/);
    text = lines.pop();
    for (const line of lines) {
      if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
      if (line !== "") continue;
      if (data.join("") !== "") yield JSON.parse(data.join("\n"));
      data = [];
    }
  }
}

let begun = Promise.resolve();
function take(line) {
  let message;
  try {
    message = JSON.parse(line);
  } catch {
    return fail(null, -32700, "Parse error");
  }
  if (message?.jsonrpc !== "2.0") return fail(null, -32600, "Invalid Request");
  // These two end before the next message is sent. All others are sent at once, so that a cancellation does not wait.
  const sent = begun.then(() => forward(message));
  if (message.method === "initialize" || message.method === "notifications/initialized") begun = sent;
}

async function main() {
  process.stdin.setEncoding("utf8");
  let rest = [];
  for await (const piece of process.stdin) {
    while (calls.size >= MAX_OPEN) await new Promise((done) => (oneEnded = done));
    const [end, ...lines] = piece.split("\n");
    rest.push(end);
    for (const line of lines) {
      const whole = rest.join("").trim();
      if (whole !== "") take(whole);
      rest = [line];
    }
    if (rest.reduce((length, part) => length + part.length, 0) > MAX_BYTES) throw new Error("a message is too long");
  }
}

process.stdout.on("error", () => process.exit(0));
process.on("SIGTERM", () => process.exit(0)).on("SIGINT", () => process.exit(0));
main()
  .then(() => Promise.race([written, new Promise((done) => setTimeout(done, 500))]))
  .then(() => process.exit(0))
  .catch((error) => process.exit(log(error.message) ?? 1));
