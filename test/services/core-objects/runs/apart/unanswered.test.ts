import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openSession, type Session } from "../../../../../services/core-objects/runs/apart/mcp-session.js";
import { LOOPBACK } from "../../../../support/outgoing.js";

/** The deadline of a call of a test: what is said at once is said long before it. */
const SOON_MS = 4_000;
const ENDED = "it ended its answer without answering the request";

type Answer = (response: ServerResponse, id: number, request: IncomingMessage) => void;

let answer: Answer;
let session: Session;
const seen: string[] = [];
const whole = (id: unknown, text = "found") =>
  JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text }] } });
const stream = (response: ServerResponse, text: string): unknown =>
  response.writeHead(200, { "content-type": "text/event-stream" }).end(text);
const json = (response: ServerResponse, text: string): unknown =>
  response.writeHead(200, { "content-type": "application/json" }).end(text);

/** Begins as a server does, and answers calls as the test says. */
const server = createServer((request, response) => {
  seen.push(request.method!);
  if (request.method === "GET") return answer(response, 0, request);
  let body = "";
  request.on("data", (piece) => (body += piece));
  request.on("end", () => {
    const { id, method } = JSON.parse(body) as { id?: number; method: string };
    if (id === undefined) return void response.writeHead(202).end();
    if (method === "tools/call") return answer(response, id, request);
    const result = { protocolVersion: "2025-06-18", capabilities: {}, serverInfo: { name: "s", version: "1" } };
    json(response, JSON.stringify({ jsonrpc: "2.0", id, result }));
  });
});

beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(async () => {
  seen.length = 0;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  session = await openSession({ url, transport: "streamable_http", headers: {}, policy: LOOPBACK });
  return () => session.close();
});

async function call(): Promise<string> {
  const asked = await session.use((client) =>
    client.callTool({ name: "find", arguments: {} }, undefined, { timeout: SOON_MS }),
  );
  return (asked.content as { text: string }[])[0]!.text;
}

test.each<[how: string, Answer]>([
  ["an empty stream", (response) => stream(response, "")],
  ["a stream of what is no JSON", (response) => stream(response, "data: {\n\n")],
  ["a stream of another request's answer", (response, id) => stream(response, `data: ${whole(id + 5)}\n\n`)],
  ["a stream without the end of its event", (response, id) => stream(response, `data: ${whole(id)}`)],
  ["another request's answer", (response, id) => json(response, whole(id + 5))],
  ["a list without the answer", (response) => json(response, "[]")],
  ["202, as for a notification", (response) => response.writeHead(202).end()],
  [
    "a stream that breaks off",
    (response, id) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write(`data: ${whole(id).slice(0, 40)}`);
      setTimeout(() => response.destroy(), 20);
    },
  ],
])("a request that is answered with %s fails at once, and the session goes on", async (_how, given) => {
  answer = given;
  await expect(call()).rejects.toMatchObject({ name: "UnclearError", message: ENDED });
  answer = (response, id) => json(response, whole(id, "found then"));
  expect(await call()).toBe("found then");
});

test.each<[how: string, Answer]>([
  ["with an id that is a text", (response, id) => json(response, whole(String(id)))],
  ["in lines that end with a carriage return alone", (response, id) => stream(response, `data: ${whole(id)}\r\r`)],
  ["in a list", (response, id) => json(response, `[${whole(77)},${whole(id)}]`)],
  [
    "after a while, in small pieces",
    (response, id) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const bytes = Buffer.from(`: wait\n\nevent: message\ndata: ${whole(id)}\n\n`);
      let at = 0;
      const timer = setInterval(() => {
        response.write(bytes.subarray(at, at + 7));
        at += 7;
        if (at < bytes.length) return;
        clearInterval(timer);
        response.end();
      }, 2);
    },
  ],
])("an answer is read %s", async (_how, given) => {
  answer = given;
  expect(await call()).toBe("found");
});

test("a stream whose events have ids is taken up again where it ended, and the answer is read there", async () => {
  let asked = 0;
  answer = (response, id, request) => {
    if (request.method === "POST") {
      asked = id;
      return void stream(response, "retry: 1\nid: here\ndata:\n\n");
    }
    expect(request.headers["last-event-id"]).toBe("here");
    stream(response, `data: ${whole(asked)}\n\n`);
  };
  expect(await call()).toBe("found");
  expect(seen.filter((method) => method === "GET")).toHaveLength(1);
});

test("calls at once are failed and answered each for itself", async () => {
  let n = 0;
  answer = (response, id) => {
    const isAnswered = n++ % 2 === 0;
    setTimeout(() => stream(response, isAnswered ? `data: ${whole(id, `of ${id}`)}\n\n` : ": no\n\n"), (n * 7) % 20);
  };
  const all = await Promise.allSettled(Array.from({ length: 12 }, call));
  expect(all.map(({ status }) => status).sort()).toEqual([
    ...Array.from({ length: 6 }, () => "fulfilled"),
    ...Array.from({ length: 6 }, () => "rejected"),
  ]);
  const texts = all.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  expect(new Set(texts).size).toBe(6);
});

test("what an answer is refused for is told in a sentence, however long the list of its issues is", async () => {
  const content = Array.from({ length: 30 }, () => ({ type: "text", text: 5 }));
  answer = (response, id) => json(response, JSON.stringify({ jsonrpc: "2.0", id, result: { content } }));
  await expect(call()).rejects.toThrow(/^content\[0\]: Invalid input; content\[1\].*; and 20 more$/);
});

test.each<[how: string, Answer]>([
  ["what is no JSON", (response) => json(response, "{")],
  ["JSON that is no message", (response) => json(response, "5")],
  ["a page", (response) => response.writeHead(200, { "content-type": "text/html" }).end("<p>Welcome")],
  ["500", (response) => response.writeHead(500).end("out of order")],
  ["a connection that breaks", (response) => response.destroy()],
])("a call that is answered with %s may have taken effect", async (_how, given) => {
  answer = given;
  await expect(call()).rejects.toMatchObject({ name: "UnclearError" });
});

test.each<[how: string, Answer]>([
  [
    "an error of JSON-RPC",
    (response, id) => json(response, JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32_602, message: "no" } })),
  ],
  ["403", (response) => response.writeHead(403).end("not you")],
])("a call that is refused with %s has not", async (_how, given) => {
  answer = given;
  await expect(call()).rejects.toMatchObject({ name: "Error" });
});
