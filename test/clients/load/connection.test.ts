import { type AddressInfo, createServer, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { type Broken, Connection } from "../../../clients/load/connection.js";
import type { Answer } from "../../../clients/load/http/reader.js";
import { type Listening, listen } from "./support/servers.js";

let server: Listening;
let connection: Connection;
afterEach(async () => {
  connection.close();
  await server.close();
});

const connectTo = (listening: Listening): Connection => new Connection({ url: new URL(listening.url), headers: {} });
const send = (over: Connection, headers: Record<string, string> = {}): Promise<Answer | Broken> =>
  new Promise((resolve) => over.send({ headers, body: "{}" }, resolve));

test("requests use one connection, with its session unless they are of 2026-07-28", async () => {
  const sessions: unknown[] = [];
  let sockets = 0;
  server = await listen((request, response) => {
    sessions.push(request.headers["mcp-session-id"]);
    response.end("{}");
  });
  server.server.on("connection", () => sockets++);
  connection = connectTo(server);
  await send(connection);
  connection.sessionId = "s1";
  await send(connection, { "mcp-protocol-version": "2025-11-25" });
  await send(connection, { "mcp-protocol-version": "2026-07-28" });
  expect(sessions).toEqual([undefined, "s1", undefined]);
  expect([sockets, connection.opened]).toEqual([1, 1]);
  // The next request may be sent before Node has put the connection back.
  await new Promise<void>((resolve) => {
    connection.send({ headers: {}, body: "{}" }, () => connection.send({ headers: {}, body: "{}" }, () => resolve()));
  });
  expect([sockets, connection.opened]).toEqual([1, 1]);
});

test("a request that is given up says why, and the next one has a new connection", async () => {
  let isSilent = true;
  server = await listen((_request, response) => {
    if (!isSilent) response.end("{}");
  });
  connection = connectTo(server);
  const asked = send(connection);
  setTimeout(() => connection.giveUp("timeout", "no answer within 1 s"), 50);
  expect(await asked).toEqual({ broken: "timeout", detail: "no answer within 1 s" });
  isSilent = false;
  expect(await send(connection)).toMatchObject({ status: 200 });
  expect(connection.opened).toBe(2);
});

test("a connection that breaks in the middle of an answer is a failure", async () => {
  server = await listen((_request, response) => {
    response.writeHead(200, { "content-length": 100 });
    response.write("{");
    setTimeout(() => response.destroy(), 20);
  });
  connection = connectTo(server);
  expect(await send(connection)).toMatchObject({ broken: "closed_by_server" });
});

test("a connection that was idle and that the server closes at its next request is opened again", async () => {
  let requests = 0;
  server = await listen((request, response) => {
    requests++;
    if (requests === 2 || requests === 4) request.socket.destroy();
    else response.end("{}");
  });
  connection = connectTo(server);
  expect(await send(connection)).toMatchObject({ status: 200 });
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  expect(await send(connection)).toMatchObject({ status: 200 });
  expect([requests, connection.opened]).toEqual([3, 2]);
  // One that was in use is not: that is a failure of the server.
  expect(await send(connection)).toMatchObject({ broken: "closed_by_server" });
});

test("no server is a failure", async () => {
  server = await listen(() => undefined);
  await server.close();
  connection = connectTo(server);
  expect(await send(connection)).toMatchObject({ broken: "econnrefused" });
});

/** A server that sends these bytes at each request, and then may end the connection. */
async function listenRaw(answer: string, ends = false): Promise<Listening & { readonly seen: string[] }> {
  const seen: string[] = [];
  const raw = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => {
      seen.push(bytes.toString());
      socket.write(answer, "latin1");
      if (ends) socket.end();
    });
  });
  await new Promise<void>((resolve) => raw.listen(0, "127.0.0.1", resolve));
  const { port } = raw.address() as AddressInfo;
  return {
    seen,
    server: raw as Listening["server"],
    url: `http://127.0.0.1:${port}/mcp?a=b`,
    close: () => new Promise((resolve) => raw.close(() => resolve())),
  };
}

const OK = "HTTP/1.1 200 OK\r\n";

test("what is sent is one request of HTTP/1.1, whose length counts bytes", async () => {
  const raw = await listenRaw(`${OK}content-length: 0\r\n\r\n`);
  server = raw;
  const { host } = new URL(raw.url);
  connection = new Connection({ url: new URL(raw.url), headers: { authorization: "Bearer k", "x-a": "é" } });
  await send(connection, { "mcp-method": "a" });
  await new Promise((resolve) => connection.send({ headers: {}, body: '"é"' }, resolve));
  const [first, second] = raw.seen;
  expect(first).toBe(
    [
      "POST /mcp?a=b HTTP/1.1",
      `host: ${host}`,
      "connection: keep-alive",
      "content-type: application/json",
      "accept: application/json, text/event-stream",
      "mcp-method: a",
      "authorization: Bearer k",
      // Headers are in Latin-1.
      "x-a: \ufffd",
      "content-length: 2",
      "",
      "{}",
    ].join("\r\n"),
  );
  expect(second).toMatch(/content-length: 4\r\n\r\n"é"$/);
});

test("a header that cannot be sent is a failure, and no part of another request", async () => {
  const raw = await listenRaw(`${OK}content-length: 0\r\n\r\n`);
  server = raw;
  connection = connectTo(raw);
  for (const value of ["a\r\nx: y", "\u0100"]) {
    expect(await send(connection, { "mcp-name": value })).toEqual({
      broken: "invalid_header",
      detail: "the header mcp-name has characters that no header can have",
    });
  }
  expect(await send(connection)).toMatchObject({ status: 200 });
  expect(raw.seen).toHaveLength(1);
});

test.each([
  ["a length and says that it closes", `${OK}content-length: 2\r\nconnection: close\r\n\r\n{}`, false],
  ["no length", `${OK}\r\n{}`, true],
])("an answer with %s is whole, and the next one has a new connection", async (_what, answer, ends) => {
  server = await listenRaw(answer, ends);
  connection = connectTo(server);
  for (const opened of [1, 2]) {
    const whole = (await send(connection)) as Answer;
    expect([whole.status, whole.body.toString(), connection.opened]).toEqual([200, "{}", opened]);
  }
});

test.each([
  ["not_http", "SSH-2.0-OpenSSH_9.2\r\n\r\n", "the answer has no status line of HTTP/1.1"],
  ["not_http", `${OK}content-length: 1\r\n\r\nab`, "the server sent more than the answer"],
  ["too_large", `${OK}content-length: 99999999\r\n\r\n`, "the answer exceeds 33554432 bytes"],
  ["too_large", `${OK}a: ${"x".repeat(20_000)}`, "the answer's head exceeds 16384 bytes"],
])("%s: %#", async (broken, answer, detail) => {
  server = await listenRaw(answer);
  connection = connectTo(server);
  expect(await send(connection)).toEqual({ broken, detail });
  expect(await send(connection)).toEqual({ broken, detail });
  expect(connection.opened).toBe(2);
});

test("bytes that nobody asked for are not taken for the next answer", async () => {
  let socket: Socket | undefined;
  server = await listen((_request, response) => response.end("{}"));
  server.server.on("connection", (one) => {
    socket = one;
  });
  connection = connectTo(server);
  await send(connection);
  socket?.write(`${OK}content-length: 5\r\n\r\nwrong`);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(((await send(connection)) as Answer).body.toString()).toBe("{}");
  expect(connection.opened).toBe(2);
});

test("a request that is given up while the connection opens leaves it to the next one", async () => {
  let requests = 0;
  server = await listen((_request, response) => {
    requests++;
    response.end("{}");
  });
  connection = connectTo(server);
  const asked = send(connection);
  connection.giveUp("timeout", "no answer within 1 s");
  expect(await asked).toMatchObject({ broken: "timeout" });
  expect(await send(connection)).toMatchObject({ status: 200 });
  expect([requests, connection.opened]).toEqual([1, 1]);
});

test("a host of IPv6 is reached", async () => {
  server = await listen((request, response) => response.end(request.headers.host));
  const six = createServer((socket) => void socket.end(`${OK}\r\nsix`));
  const listens = await new Promise<boolean>((resolve) => {
    six.once("error", () => resolve(false)).listen(0, "::1", () => resolve(true));
  });
  const { port = 0 } = (listens ? six.address() : {}) as AddressInfo;
  connection = new Connection({ url: new URL(`http://[::1]:${port || 9}/`), headers: {} });
  const answer = await send(connection);
  // A machine without IPv6 says so.
  if (listens) expect((answer as Answer).body.toString()).toBe("six");
  else expect(answer).toHaveProperty("broken");
  six.close();
});
