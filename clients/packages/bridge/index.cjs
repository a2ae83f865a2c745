#!/usr/bin/env node

// Passes MCP messages between a program that starts this one (stdio) and a server
// (Streamable HTTP), as they are. No dependencies; Node 18 or newer. It writes nothing but
// MCP to standard output, and never the key anywhere. In a bundle it is server/index.js.
const http = require("node:http");
const https = require("node:https");

const MAX_BYTES = 32 * 1024 * 1024;
/** Requests without an answer; a program that has more open waits. */
const MAX_OPEN = 1000;
const ERA = "io.modelcontextprotocol/protocolVersion";
const NAMED_BY = { "tools/call": "name", "prompts/get": "name", "resources/read": "uri" };
const WHY = {
  401: "The service refused the API key: set a valid one.",
  403: "This API key may not use this endpoint.",
  429: "Too many requests: wait and try again.",
};

// biome-ignore lint/suspicious/noConsole: standard error is the log of an extension.
const log = (...words) => console.error("[bridge]", ...words);
const endpoint = new URL(process.env.SERVICE_MCP_URL || "http://localhost");
const key = process.env.SERVICE_API_KEY || "";
// A program that does not know the value passes the name of the variable.
const hasKey = /^[\x21-\x7e]+$/.test(key) && !key.startsWith("$");
const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(endpoint.hostname);
if (!process.env.SERVICE_MCP_URL || (endpoint.protocol !== "https:" && !isLocal)) {
  log("SERVICE_MCP_URL must be the https URL of an MCP endpoint");
  process.exit(1);
}
const net = endpoint.protocol === "https:" ? https : http;
const agent = new net.Agent({ keepAlive: true });

/** Requests without an answer, by the JSON of their id: "1" and 1 are two. */
const open = new Map();
/** The revision that was negotiated, in eras that negotiate one. The service keeps no session. */
let negotiated;

// One writer of whole lines, which waits while the reader is slow.
let written = Promise.resolve();
function write(message) {
  // Some readers take these two for ends of lines.
  const line = JSON.stringify(message).replace(/[\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16)}`);
  written = written.then(
    () => new Promise((done) => (process.stdout.write(`${line}\n`) ? done() : process.stdout.once("drain", done))),
  );
  return written;
}
const fail = (id, code, message, data) =>
  write({ jsonrpc: "2.0", id, error: { code, message, ...(data && { data }) } });

/** A value as a header can have it (MCP 2026-07-28, "Mcp-Name"). */
function inHeader(value) {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !/^=\?base64\?.*\?=$/.test(value);
  return isPlain ? value : `=?base64?${Buffer.from(value).toString("base64")}?=`;
}

const eraOf = ({ params }) => params?._meta?.[ERA];

function headersOf(message, body) {
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "content-length": Buffer.byteLength(body),
    authorization: `Bearer ${key}`,
    "user-agent": "sallyport-bridge",
  };
  const era = eraOf(message);
  if (era === undefined && message.method !== "initialize" && negotiated) headers["mcp-protocol-version"] = negotiated;
  if (era === undefined) return headers;
  headers["mcp-protocol-version"] = String(era);
  if (message.method) headers["mcp-method"] = inHeader(message.method);
  const name = message.params[NAMED_BY[message.method]];
  if (typeof name === "string") headers["mcp-name"] = inHeader(name);
  return headers;
}

/** Sends one message, once, and writes what comes back: whatever happens, a request has exactly one answer. */
function forward(message) {
  const isRequest = message.method !== undefined && message.id !== undefined;
  const id = JSON.stringify(message.id);
  if (message.method === "notifications/cancelled") {
    const cancelled = open.get(JSON.stringify(message.params?.requestId));
    if (cancelled) cancelled.isOver = true;
    // Where every request has an era of its own, closing its stream is what cancels it.
    if (cancelled?.era !== undefined) return void cancelled.request.destroy();
  }
  if (!hasKey)
    return isRequest
      ? fail(message.id, -32000, "No API key is set: enter one in the settings of this extension.")
      : undefined;
  const body = JSON.stringify(message);
  return new Promise((done) => {
    const request = net.request(endpoint, { method: "POST", agent, headers: headersOf(message, body) });
    const call = { request, era: eraOf(message), isOver: false };
    if (isRequest) open.set(id, call);
    const end = async (why, data) => {
      if (isRequest && !call.isOver) {
        call.isOver = true;
        await fail(message.id, -32000, why, data);
      }
      if (open.get(id) === call) open.delete(id);
      done();
    };
    const deliver = async (reply) => {
      if (isRequest && reply.method === undefined && JSON.stringify(reply.id) === id) {
        if (call.isOver) return;
        call.isOver = true;
        if (message.method === "initialize") negotiated = reply.result?.protocolVersion;
      }
      await write(reply);
    };
    request.on("error", (error) =>
      end(`The service at ${endpoint.host} cannot be reached: ${error.code || error.message}.`),
    );
    request.on("response", (response) =>
      read(response, message, isRequest, deliver).then(
        ([why, data]) => end(why, data),
        (error) => {
          response.destroy();
          return end(`The answer of ${endpoint.host} cannot be read: ${error.message}.`);
        },
      ),
    );
    request.end(body);
  });
}

/** Delivers the messages of an answer. Resolves to why there is no answer among them, if there is none. */
async function read(response, message, isRequest, deliver) {
  const { statusCode: status, headers } = response;
  if (status === 200 && String(headers["content-type"]).startsWith("text/event-stream")) {
    for await (const data of events(response)) await deliver(JSON.parse(data));
    return ["The service closed the connection before it answered: whether it did the work is not known."];
  }
  const pieces = [];
  let length = 0;
  for await (const piece of response) {
    length += piece.length;
    if (length > MAX_BYTES) throw new Error("it is too long");
    pieces.push(piece);
  }
  if (!isRequest) return status >= 300 ? [log(message.method || "a response", "was refused with HTTP", status)] : [];
  let reply;
  try {
    reply = JSON.parse(Buffer.concat(pieces).toString());
  } catch {}
  const retryAfter = headers["retry-after"];
  const why = [
    WHY[status] || `The service answered HTTP ${status}.`,
    { httpStatus: status, ...(retryAfter && { retryAfter }) },
  ];
  // An error of JSON-RPC is passed on as it is, whatever the status: clients choose their era by it.
  if (reply?.jsonrpc === "2.0" && (reply.result !== undefined || reply.error))
    await deliver({ ...reply, id: reply.id ?? message.id });
  return why;
}

/** The data of each event (HTML Living Standard, section 9.2.6). */
async function* events(response) {
  response.setEncoding("utf8");
  let text = "";
  let data = [];
  for await (const piece of response) {
    text += piece;
    if (text.length > MAX_BYTES) throw new Error("an event is too long");
    const lines = text.split(/\r\n|\n|\r(?!$)/);
    text = lines.pop();
    for (const line of lines) {
      if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
      if (line !== "") continue;
      if (data.join("") !== "") yield data.join("\n");
      data = [];
    }
  }
}

// What negotiates comes before what follows it; all else runs side by side, so that a slow call holds up no cancellation.
let begun = Promise.resolve();
function take(line) {
  let message;
  try {
    message = JSON.parse(line);
  } catch {
    return fail(null, -32700, "Parse error");
  }
  if (message === null || typeof message !== "object" || Array.isArray(message))
    return fail(null, -32600, "Invalid Request");
  const sent = begun.then(() => forward(message));
  if (message.method === "initialize" || message.method === "notifications/initialized") begun = sent;
  return sent;
}

let rest = [];
let held = 0;
process.stdin.on("data", (piece) => {
  let from = 0;
  for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, from)) {
    const line = Buffer.concat([...rest, piece.subarray(from, at)]).toString();
    [rest, held, from] = [[], 0, at + 1];
    if (line.trim() !== "")
      Promise.resolve(take(line))
        .catch((error) => log(error.message))
        .finally(resume);
  }
  rest.push(piece.subarray(from));
  held += piece.length - from;
  if (held > MAX_BYTES) {
    log("a message is too long");
    process.exit(1);
  }
  if (open.size > MAX_OPEN) process.stdin.pause();
});
const resume = () => open.size <= MAX_OPEN && process.stdin.resume();

function stop() {
  for (const call of open.values()) {
    call.isOver = true;
    call.request.destroy();
  }
  setTimeout(() => process.exit(0), 500).unref();
  written.then(() => process.exit(0));
}
process.stdin.on("end", stop);
process.on("SIGTERM", stop).on("SIGINT", stop);
process.stdout.on("error", () => process.exit(0));
