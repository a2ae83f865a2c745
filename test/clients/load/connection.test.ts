import { afterEach, expect, test } from "vitest";
import { type Answer, type Broken, Connection } from "../../../clients/load/connection.js";
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
