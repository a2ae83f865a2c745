import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  createHttpClient,
  type Exchange,
  type HttpClient,
  type HttpRequest,
} from "../../../../services/platform-proxy/lib/http.js";
import { isLeftOpen } from "../../../../services/platform-proxy/lib/outcome.js";
import { LOOPBACK } from "../../../support/outgoing.js";

let server: Server;
let client: HttpClient;
let url: string;
let asked: { method: string; url: string; headers: Record<string, unknown>; body: string }[];
let answer: (
  path: string,
  n: number,
) => { status?: number; headers?: Record<string, string | string[]>; body?: string } | "cut" | "hang";

beforeEach(async () => {
  asked = [];
  answer = () => ({ body: "{}" });
  server = createServer(async (req, res) => {
    let body = "";
    for await (const chunk of req) body += chunk;
    asked.push({ method: req.method ?? "", url: req.url ?? "", headers: req.headers, body });
    const reply = answer(req.url ?? "", asked.length);
    if (reply === "cut") return req.socket.destroy();
    if (reply === "hang") return;
    res.writeHead(reply.status ?? 200, { "content-type": "application/json", ...reply.headers }).end(reply.body ?? "");
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  client = createHttpClient("sallyport/test", LOOPBACK);
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await client.close();
});

const exchange = (more: Partial<Exchange> = {}): Exchange => ({
  target: { server: "cti", url },
  signal: new AbortController().signal,
  tool: "ListThings",
  ...more,
});
const get = { verb: "GET", path: "/things", read: true } as const;
const errorOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error as ConnectError,
  );

test("an exchange carries body, query and who asks, below the platform's own path", async () => {
  answer = () => ({ status: 201, body: '{"n":1}' });
  const target = { server: "cti" as const, url: `${url}/base/` };
  const request = {
    verb: "POST",
    path: "/things",
    query: { a: "x y", b: ["1", "2"], c: undefined },
    body: { n: 1 },
    read: false,
  };
  const reply = await client.send(exchange({ target, traceparent: "00-a-b-01" }), request);
  expect([reply.status, reply.json()]).toEqual([201, { n: 1 }]);
  expect(asked[0]).toMatchObject({
    method: "POST",
    url: "/base/things?a=x+y&b=1&b=2",
    body: '{"n":1}',
    headers: {
      "user-agent": "sallyport/test (mcp; tool=ListThings)",
      traceparent: "00-a-b-01",
      accept: "application/json",
    },
  });
});

test("no cookie is kept and no redirect followed", async () => {
  answer = () => ({ status: 301, headers: { location: "/elsewhere", "set-cookie": ["S=1", "T=2"] } });
  expect((await client.send(exchange(), get)).status).toBe(301);
  await client.send(exchange(), get);
  expect(asked.map((one) => [one.url, one.headers.cookie])).toEqual([
    ["/things", undefined],
    ["/things", undefined],
  ]);
});

test("a lost read is tried again, a lost write is not", async () => {
  answer = (_path, n) => (n === 1 ? "cut" : { body: "{}" });
  expect((await client.send(exchange(), get)).status).toBe(200);
  expect(asked).toHaveLength(2);
  asked = [];
  const error = await errorOf(client.send(exchange(), { verb: "POST", path: "/things", body: {}, read: false }));
  expect(error).toMatchObject({
    code: Code.Unavailable,
    rawMessage: "the cti platform cannot be reached",
  });
  expect(isLeftOpen(error)).toBe(true);
  expect(asked).toHaveLength(1);
});

test("a write that cannot be sent leaves nothing open", async () => {
  server.closeAllConnections();
  server.close();
  const error = await errorOf(client.send(exchange(), { verb: "POST", path: "/things", body: {}, read: false }));
  expect(error).toMatchObject({
    code: Code.Unavailable,
    rawMessage: "the cti platform cannot be reached; try again",
  });
  expect(isLeftOpen(error)).toBe(false);
});

test("an idle connection is ended before a platform ends it that says nothing of when", async () => {
  const silent = createServer({ keepAlive: true, keepAliveTimeout: 0 }, (_req, res) => {
    res.shouldKeepAlive = true;
    res.removeHeader("keep-alive");
    res.end("{}");
  });
  await new Promise<void>((ready) => silent.listen(0, "127.0.0.1", ready));
  const ended = new Promise<void>((resolve) => silent.once("connection", (socket) => socket.once("end", resolve)));
  const target = { server: "cti" as const, url: `http://127.0.0.1:${(silent.address() as AddressInfo).port}` };
  await client.send(exchange({ target }), get);
  await ended;
  silent.close();
}, 5_000);

test("a gateway's refusal of a read is tried again; any other status is an answer", async () => {
  answer = (_path, n) => ({ status: n === 1 ? 503 : 500 });
  expect((await client.send(exchange(), get)).status).toBe(500);
  expect(asked).toHaveLength(2);
  asked = [];
  answer = () => "cut";
  expect(await errorOf(client.send(exchange(), get))).toMatchObject({ code: Code.Unavailable });
  expect(asked).toHaveLength(2);
});

test("an address that loses five exchanges in a row is left alone", async () => {
  answer = () => "cut";
  const write = { verb: "POST", path: "/things", body: {}, read: false };
  for (let i = 0; i < 5; i++) await errorOf(client.send(exchange(), write));
  const error = await errorOf(client.send(exchange(), write));
  expect(error).toMatchObject({
    code: Code.Unavailable,
    rawMessage: expect.stringContaining("tried again within 10 seconds"),
  });
  expect(asked).toHaveLength(5);
});

describe("a platform that does not answer", () => {
  const hasty = (tryAgainMs: number) => createHttpClient("sallyport/test", LOOPBACK, { silentMs: 20, tryAgainMs });
  const soon = () => exchange({ deadline: Date.now() + 200 });

  test("is left alone after five exchanges without any answer, and told so at once", async () => {
    const other = hasty(60_000);
    answer = () => "hang";
    for (let i = 0; i < 5; i++)
      expect(await errorOf(other.send(soon(), get))).toMatchObject({ code: Code.DeadlineExceeded });
    const error = await errorOf(other.send(exchange(), get));
    expect(error).toMatchObject({
      code: Code.Unavailable,
      rawMessage: expect.stringContaining("it is tried again within"),
    });
    expect(asked).toHaveLength(5);
    server.closeAllConnections();
    await other.close();
  });

  test("is tried by one exchange, while the others are told at once", async () => {
    const other = hasty(0);
    answer = () => "hang";
    for (let i = 0; i < 5; i++) await errorOf(other.send(soon(), get));
    const probe = errorOf(other.send(soon(), get));
    const rest = await Promise.all(Array.from({ length: 10 }, () => errorOf(other.send(exchange(), get))));
    expect(rest.map((error) => error?.code)).toEqual(Array(10).fill(Code.Unavailable));
    expect(await probe).toMatchObject({ code: Code.DeadlineExceeded });
    expect(asked).toHaveLength(6);
    answer = () => ({ body: "{}" });
    expect((await other.send(exchange(), get)).status).toBe(200);
    expect((await other.send(exchange(), get)).status).toBe(200);
    server.closeAllConnections();
    await other.close();
  });

  test("is slow, and goes on being asked, where it answers others meanwhile", async () => {
    const other = hasty(60_000);
    answer = (path) => (path === "/slow" ? "hang" : { body: "{}" });
    const lateOnceAnother = async (request: HttpRequest) => {
      const clock = new AbortController();
      const late = errorOf(other.send(exchange({ signal: clock.signal }), request));
      expect((await other.send(exchange(), get)).status).toBe(200);
      clock.abort(new ConnectError("the deadline passed", Code.DeadlineExceeded));
      const error = await late;
      return `${error?.rawMessage}${isLeftOpen(error) ? " [open]" : ""}`;
    };
    for (let i = 0; i < 8; i++) {
      expect(await lateOnceAnother({ ...get, path: "/slow" })).toContain("is slow: it answers");
    }
    const write = { verb: "POST", path: "/slow", body: {}, read: false };
    expect(await lateOnceAnother(write)).toMatch(/is slow.*\[open\]$/);
    server.closeAllConnections();
    await other.close();
  });
});

test("a deadline and a client that leaves end the exchange", async () => {
  answer = () => "hang";
  expect(await errorOf(client.send(exchange({ deadline: Date.now() + 50 }), get))).toMatchObject({
    code: Code.DeadlineExceeded,
  });
  expect(await errorOf(client.send(exchange({ signal: AbortSignal.timeout(50) }), get))).toMatchObject({
    code: Code.DeadlineExceeded,
  });
  const leave = new AbortController();
  const call = errorOf(client.send(exchange({ signal: leave.signal }), get));
  const gone = new Promise<void>((resolve) =>
    server.once("request", (req) => req.socket.once("close", () => resolve())),
  );
  await expect.poll(() => asked.length).toBe(3);
  leave.abort();
  expect(await call).toMatchObject({ code: Code.Canceled });
  await Promise.race([gone, expect.poll(() => asked.length).toBe(3)]);
});

test("what is not JSON is said to be so", async () => {
  answer = () => ({ body: "<html>" });
  const reply = await client.send(exchange(), get);
  expect(() => reply.json()).toThrow(/something other than JSON/);
  expect(reply.text).toBe("<html>");
});

test("an endless answer is refused", async () => {
  answer = () => ({ body: "x".repeat((16 << 20) + 1) });
  const error = await errorOf(client.send(exchange(), get));
  expect(error).toBeInstanceOf(ConnectError);
  expect(error).toMatchObject({ code: Code.ResourceExhausted });
});

describe("a large answer", () => {
  const rows = (count: number, row: (n: number) => unknown): string =>
    JSON.stringify(Array.from({ length: count }, (_, n) => row(n)));

  test("comes as it is, whatever it holds", async () => {
    const body = rows(20_000, (n) => ({ id: `object ${n}`, name: "한국어 é 𝒳", count: n, tags: ["a", "b"] }));
    const page = `<html>${"é".repeat(300_000)}`;
    answer = (path) => ({ body: path === "/page" ? page : body });
    const [reply, other] = await Promise.all([
      client.send(exchange(), get),
      client.send(exchange(), { ...get, path: "/page" }),
    ]);
    expect(reply.text === body).toBe(true);
    expect(reply.json<{ id: string }[]>()[19_999]).toMatchObject({ id: "object 19999", count: 19_999 });
    expect(other.text === page).toBe(true);
    expect(() => other.json()).toThrow(/something other than JSON/);
  });

  test.each([
    ["values", rows(130_000, () => [1]), "has more than 250000 values"],
    ["depth", `${"[".repeat(200_000)}${"]".repeat(200_000)}`, "is nested deeper than 64 levels"],
    ["names", rows(50_000, (n) => ({ [`n${n}`]: 1 })), "holds more than 40000 different names and short texts"],
    ["short texts", rows(60_000, (n) => `t${n}`), "holds more than 40000 different names and short texts"],
  ])("of too many %s is refused", async (_, body, said) => {
    answer = () => ({ body });
    const error = await errorOf(client.send(exchange(), get));
    expect(error).toMatchObject({
      code: Code.ResourceExhausted,
      rawMessage: `the cti platform's answer ${said}; ask for less at a time`,
    });
    answer = () => ({ body: "{}" });
    expect((await client.send(exchange(), get)).json()).toEqual({});
  });

  test("is waited for until the caller leaves or the deadline passes", async () => {
    const leave = new AbortController();
    answer = () => {
      setImmediate(() => leave.abort());
      return { body: rows(100_000, (n) => n) };
    };
    const call = errorOf(client.send(exchange({ signal: leave.signal }), get));
    expect(await call).toMatchObject({ code: Code.Canceled });
  });
});
