import { brotliCompressSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { judge } from "../../../../clients/load/mcp/answer.js";

const RESULT = { jsonrpc: "2.0", id: 1, result: { content: [{ type: "text", text: "hi" }] } };

function answer(body: unknown, { status = 200, type = "application/json", encoding = "", isCall = true } = {}) {
  const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  const encoded = encoding === "gzip" ? gzipSync(bytes) : encoding === "br" ? brotliCompressSync(bytes) : bytes;
  const headers = { "content-type": type, ...(encoding !== "" && { "content-encoding": encoding }) };
  return judge({ status, headers, body: encoded }, { id: 1, isCall });
}

test("a result is good, plain and compressed", () => {
  for (const encoding of ["", "gzip", "br"]) expect(answer(RESULT, { encoding })).toEqual({ isStream: false });
});

test("the result of a stream is its last message", () => {
  const progress = { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: 1, progress: 1 } };
  const stream = [progress, RESULT].map((one) => `event: message\ndata: ${JSON.stringify(one)}\n\n`).join("");
  expect(answer(stream, { type: "text/event-stream; charset=utf-8" })).toEqual({ isStream: true });
});

test("the server's name is read from either place", () => {
  const info = { name: "cti", version: "1.0.0" };
  const meta = { "io.modelcontextprotocol/serverInfo": info };
  for (const result of [{ serverInfo: info }, { _meta: meta }]) {
    expect(answer({ jsonrpc: "2.0", id: 1, result }).server).toBe("cti 1.0.0");
  }
});

test.each([
  ["a status", answer({ error: { code: -1, message: "slow down" } }, { status: 429 }), "http_429", "slow down"],
  ["a status without JSON", answer("Bad gateway", { status: 502, type: "text/html" }), "http_502", "Bad gateway"],
  ["an error", answer({ id: 1, error: { code: -32602, message: "Unknown tool: x" } }), "rpc_-32602", "Unknown tool: x"],
  ["an error of the tool", answer({ id: 1, result: { isError: true, content: [{ text: "no" }] } }), "tool_error", "no"],
  ["another id", answer({ ...RESULT, id: 2 }), "wrong_id", expect.any(String)],
  ["no JSON", answer("hello"), "not_json", "hello"],
  ["no result", answer({ id: 1 }), "no_result", expect.any(String)],
  ["an empty stream", answer("", { type: "text/event-stream" }), "no_result", expect.any(String)],
  ["an unknown encoding", answer(RESULT, { encoding: "zstd" }), "not_readable", expect.any(String)],
])("%s is a failure with a stable word and the server's words", (_what, verdict, failure, detail) => {
  expect(verdict).toMatchObject({ failure, detail });
});

test("a large answer is searched", () => {
  const text = "x".repeat(100_000);
  expect(answer({ id: 1, result: { text } })).toEqual({ isStream: false });
  expect(answer({ id: 1, result: { isError: true, text } }).failure).toBe("tool_error");
  expect(answer(`{"id":1,"result":{"text":"${text}","isError" : true}}`).failure).toBe("tool_error");
  expect(answer({ id: 1, result: { isError: false, text, structuredContent: { isError: true } } }).failure).toBe(
    "tool_error",
  );
  // Inside a text the quotes are escaped.
  expect(answer({ id: 1, result: { text: `${text}"isError":true` } })).toEqual({ isStream: false });
  expect(answer({ id: 1, other: text }).failure).toBe("no_result");
});

test("only a call has an error of a tool", () => {
  for (const text of ["", "x".repeat(100_000)]) {
    const result = { tools: [{ name: "a", inputSchema: { default: { isError: true } } }], isError: true, text };
    expect(answer({ id: 1, result }, { isCall: false })).toEqual({ isStream: false });
    expect(answer({ id: 1, result }).failure).toBe("tool_error");
  }
});

test("a few bytes that become gigabytes are not read", () => {
  const bomb = "0".repeat(64 << 20);
  for (const encoding of ["gzip", "br"]) expect(answer(bomb, { encoding }).failure).toBe("not_readable");
});

test("a code is a number", () => {
  expect(answer({ id: 1, error: { code: "\u001b[2J", message: "" } }).failure).toBe("rpc_without_code");
});

test("a server's words are cut", () => {
  expect(answer("y".repeat(1_000), { status: 500 }).detail).toHaveLength(200);
});
