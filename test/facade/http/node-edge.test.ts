import { afterEach, expect, test } from "vitest";
import type { Edge } from "../../../facade/http/edge.js";
import type { Exchange } from "../../../facade/http/exchange.js";
import { listen, sharesPorts } from "../../../facade/http/node-edge.js";
import { raw, requestText } from "../support/raw.js";

// What the parser of node:http would answer, wait for or take by itself is as
// this service answers, waits and takes.

const IDLE_MS = 300;
const HOST = "host: 127.0.0.1";

let edge: Edge | undefined;
afterEach(() => edge?.close());

async function serve(handle: (exchange: Exchange) => void): Promise<number> {
  edge = await listen({ host: "127.0.0.1", port: 0, exclusive: true }, handle, IDLE_MS);
  return edge.port;
}

const say = (exchange: Exchange) => exchange.answer(200, ["content-type", "text/plain"], `said ${exchange.path}`);
const answerOf = async (bytes: string, handle = say) => raw(await serve(handle), bytes).ended;

test.each([
  ["no request line", "hello\r\n\r\n", 400, "malformed_request"],
  ["a method that is none", requestText("/", [HOST], "", "FETCH"), 400, "malformed_request"],
  ["a header that is none", requestText("/", [HOST, "no colon"], "", "GET"), 400, "malformed_request"],
  ["a length that is no number", requestText("/", [HOST, "content-length: ten"]), 400, "malformed_request"],
  ["headers beyond 16 KiB", requestText("/", [HOST, `x: ${"a".repeat(17_000)}`]), 431, "headers_too_large"],
])("%s is told in JSON, and the connection is closed", async (_what, bytes, status, word) => {
  const answer = await answerOf(bytes);
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} [\\s\\S]*connection: close`));
  const { error } = JSON.parse(answer.slice(answer.indexOf("\r\n\r\n") + 4));
  expect(error).toMatchObject({ code: status, data: { error: word } });
});

test("headers that come too slowly are told of, and the connection is closed", async () => {
  const { socket, ended } = raw(await serve(say), "GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n");
  const drip = setInterval(() => socket.write("x: 1\r\n"), IDLE_MS / 3);
  expect(await ended).toMatch(/^HTTP\/1.1 408 [\s\S]*too_slow/);
  clearInterval(drip);
});

test.each([
  ["of HTTP/1.0", requestText("/", [HOST], "", "GET").replace("1.1", "1.0"), /supports only HTTP\/1.1/],
  ["without Host", requestText("/", [], "", "GET"), /Host header is missing/],
  ["that expects what is not served", requestText("/", [HOST, "expect: tea"]), /only Expect/],
])("a request %s is malformed", async (_what, bytes, fault) => {
  expect(await answerOf(bytes, (exchange) => exchange.answer(400, [], exchange.malformed))).toMatch(fault);
});

test("of a chunked body with a fault nothing is served, and it is told", async () => {
  const bytes = requestText("/", [HOST, "transfer-encoding: chunked"], "nonsense\r\n");
  let gone = false;
  const answer = await answerOf(bytes, (exchange) => {
    exchange.onGone(() => {
      gone = true;
    });
    exchange.readJson(100, () => exchange.answer(200, []));
  });
  expect([answer.slice(0, 12), gone]).toEqual(["HTTP/1.1 400", true]);
});

test("what is wrong behind a request is not the answer to it", async () => {
  const answer = await answerOf(`${requestText("/", [HOST], "", "GET")}nonsense\r\n\r\n`, () => undefined);
  expect(answer).toBe("");
});

test("a client that waits to be told sends its body when it is asked for, and keeps it when it is not", async () => {
  const head = requestText("/", [HOST, "expect: 100-continue", "content-length: 4"]);
  const asked = raw(await serve((one) => one.readJson(10, (text) => one.answer(200, [], text?.toString()))), head);
  await expect.poll(asked.text).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\n$/);
  asked.socket.write("body");
  await expect.poll(asked.text).toMatch(/HTTP\/1.1 200 OK[\s\S]*body$/);
  asked.socket.destroy();
  edge?.close();
  expect(await answerOf(head)).toMatch(/^HTTP\/1.1 200 OK[\s\S]*connection: close[\s\S]*said/);
});

test.each([
  ["nothing", ""],
  ["a body of which nothing comes", requestText("/", [HOST, "content-length: 10"])],
  ["a request, and nothing more", requestText("/", [HOST], "", "GET")],
])("who sends %s is cut off after a while", async (_what, bytes) => {
  const port = await serve((exchange) => exchange.readJson(100, () => say(exchange)));
  await raw(port, bytes).ended;
  expect(edge?.inFlight()).toBe(0);
});

test("who waits for an answer is not cut off", async () => {
  const bytes = requestText("/slow", [HOST, "connection: close"], "", "GET");
  const slow = (exchange: Exchange) => void setTimeout(() => say(exchange), 3 * IDLE_MS);
  expect(await answerOf(bytes, slow)).toContain("said /slow");
});

test("the rest of a body that nobody wants is waited for a while, and the next request served", async () => {
  const port = await serve(say);
  const { socket, text, ended } = raw(port, requestText("/one", [HOST, "content-length: 6"], "abc"));
  await expect.poll(text).toContain("said /one");
  socket.write(`def${requestText("/two", [HOST, "content-length: 6"], "abc")}`);
  await expect.poll(text).toContain("said /two");
  const drip = setInterval(() => socket.write("."), IDLE_MS);
  await ended;
  clearInterval(drip);
});

test("HEAD is told the length and given no body", async () => {
  const head = requestText("/", [HOST, "connection: close"], "", "HEAD");
  expect(await answerOf(head)).toMatch(/content-length: 6\r\n[\s\S]*\r\n\r\n$/);
});

test("an answer that is shorter than was told is cut off, a longer one is cut short", async () => {
  const get = requestText("/", [HOST, "connection: close"], "", "GET");
  const write = (piece: string) => (exchange: Exchange) => {
    exchange.open(200, [], 4);
    exchange.write(piece);
    exchange.end();
  };
  expect(await answerOf(get, write("abcdef"))).toMatch(/\r\n\r\nabcd$/);
  edge?.close();
  expect(await answerOf(get, write("ab"))).not.toMatch(/abcd/);
});

test("headers are text as UTF-8 has it, both ways, and nothing in them ends a line", async () => {
  const bytes = requestText("/", [HOST, "connection: close", "x-name: Zürich €"], "", "GET");
  const answer = await answerOf(bytes, (exchange) =>
    exchange.answer(200, ["x-name", `${exchange.headers["x-name"]}\r\nx-more: 1`]),
  );
  expect(answer).toContain("x-name: Zürich €  x-more: 1\r\n");
});

test.each([
  ["20.19.0", false],
  ["22.11.0", false],
  ["22.12.0", true],
  ["23.0.0", false],
  ["23.1.0", true],
  ["26.0.0", true],
])("Node %s shares ports: %s", (version, shares) => {
  expect(sharesPorts(version)).toBe(shares);
});
