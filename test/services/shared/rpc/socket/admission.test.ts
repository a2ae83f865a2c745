import { once } from "node:events";
import { connect as connectSocket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ExportTraceServiceRequestSchema } from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { ASSERTION_HEADER } from "../../../../../services/shared/rpc/call.js";
import { exportOf } from "../../../traces/spans.js";
import { ANA, CHECK, call, EXPORT, emptyMessages, envelope, GET_AGENT, open, startRig } from "./support.js";

let rig: Awaited<ReturnType<typeof startRig>>;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.server.close(100));

/** Two million empty messages: three seconds of parsing, before it was asked who sends them. */
const BOMB = emptyMessages(2 << 20);
/** The window that a client has before anybody read anything, and what is thrown away after the answer, with room. */
const MOST_TAKEN = 512 << 10;

describe.each([
  ["gRPC", "application/grpc+proto"],
  ["gRPC-Web", "application/grpc-web+proto"],
  ["Connect", "application/proto"],
  ["Connect JSON", "application/json"],
])("over %s", (_name, type) => {
  test("a body of nobody's is neither read nor parsed", async () => {
    const session = open(rig.url);
    const { headers, body, taken } = await call(session, EXPORT, { "content-type": type }, envelope(BOMB));
    if (type.includes("grpc")) expect(headers).toMatchObject({ ":status": 200, "grpc-status": "16" });
    else {
      expect(headers[":status"]).toBe(401);
      expect(JSON.parse(body)).toMatchObject({ code: "unauthenticated", message: "this credential is not known" });
    }
    expect(taken).toBeLessThan(MOST_TAKEN);
    session.destroy();
    expect(rig.seen.begun).toEqual([]);
  });

  test("a call of an rpc that is not there is refused alike", async () => {
    const session = open(rig.url);
    const { headers, taken } = await call(session, "/none.Such/Rpc", { "content-type": type }, BOMB);
    if (type.includes("grpc")) expect(headers).toMatchObject({ ":status": 200, "grpc-status": "12" });
    else expect(headers[":status"]).toBe(404);
    expect(taken).toBeLessThan(MOST_TAKEN);
    session.destroy();
  });

  test("what is public takes a small message only", async () => {
    const session = open(rig.url);
    const { headers, trailers, body, taken } = await call(session, CHECK, { "content-type": type }, envelope(BOMB));
    if (type.includes("web")) expect(body).toContain("grpc-status: 8");
    else if (type.includes("grpc")) expect({ ...headers, ...trailers }).toMatchObject({ "grpc-status": "8" });
    else expect(headers[":status"]).toBe(429);
    expect(taken).toBeLessThan(MOST_TAKEN);
    session.destroy();
  });
});

test.each([
  ["application/grpc+proto", envelope(BOMB)],
  ["application/proto", BOMB],
  ["application/json", Buffer.from(`{"resourceSpans":[${"{},".repeat(1_000_000)}{}]}`)],
])("of a caller's message in %s that is made of too much the rest is not read", async (type, body) => {
  const session = open(rig.url);
  const answered = await call(session, EXPORT, { "content-type": type, authorization: "Bearer ana" }, body);
  if (type.includes("grpc")) expect(answered.trailers["grpc-status"] ?? answered.headers["grpc-status"]).toBe("8");
  else expect(answered.headers[":status"]).toBeGreaterThanOrEqual(400);
  expect(answered.taken).toBeLessThan(1 << 20);
  expect(rig.seen.begun).toEqual([]);
  session.destroy();
});

test("a call of nobody's is answered while its body has not come", async () => {
  const session = open(rig.url);
  const { headers } = await call(session, GET_AGENT, { "content-type": "application/grpc" }, undefined);
  expect(headers["grpc-status"]).toBe("16");
  session.destroy();
});

test("over HTTP/1.1 a body of nobody's is not read either, and its connection is closed", async () => {
  const socket = connectSocket(rig.server.port, "127.0.0.1");
  socket.on("error", () => undefined);
  let answer = "";
  socket.on("data", (chunk) => {
    answer += chunk;
  });
  socket.write(
    `POST ${EXPORT} HTTP/1.1\r\nhost: h\r\ncontent-type: application/proto\r\ncontent-length: ${BOMB.length}\r\n\r\n`,
  );
  socket.write(BOMB);
  await new Promise((resolve) => socket.on("close", resolve));
  expect(answer).toMatch(/^HTTP\/1.1 401/);
  expect(answer).toMatch(/connection: close/i);
  // What the kernel holds of it is no matter of ours.
  expect(rig.seen.begun).toEqual([]);
});

test.each([":::", "a b", "", "["])("a Host of %j ends nothing", async (host) => {
  const socket = connectSocket(rig.server.port, "127.0.0.1");
  socket.write(
    `POST ${CHECK} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}`,
  );
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1.1 200/);
  socket.destroy();
});

test.each([
  ["two Hosts", "host: a\r\nhost: b\r\ncontent-length: 2\r\n"],
  ["two lengths", "host: a\r\ncontent-length: 2\r\ncontent-length: 3\r\n"],
  ["a length and chunks", "host: a\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n"],
])("a request with %s is refused", async (_what, head) => {
  const socket = connectSocket(rig.server.port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.write(`POST ${CHECK} HTTP/1.1\r\n${head}content-type: application/json\r\n\r\n{}`);
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1.1 400/);
  socket.destroy();
});

test("who is known is asked for once a call", async () => {
  const session = open(rig.url);
  const before = rig.seen.authenticated;
  const headers = { "content-type": "application/json", authorization: "Bearer ana" };
  const { body } = await call(session, GET_AGENT, headers, Buffer.from('{"agentId":"a"}'));
  expect(JSON.parse(body)).toMatchObject({ agent: { id: "a" } });
  expect(rig.seen.authenticated).toBe(before + 1);
  session.destroy();
});

test("who may not call an rpc is told so before the message is read", async () => {
  const session = open(rig.url);
  const headers = { "content-type": "application/grpc", authorization: "Bearer ana" };
  const narrow = await startRig({
    authenticator: {
      authenticate: () => ({
        caller: { ...NARROW, id: "n", email: "", name: "", admin: false, groups: [], keyId: "k", service: false },
        assertion: "",
      }),
    },
  });
  const other = open(narrow.url);
  const answered = await call(other, GET_AGENT, headers, undefined);
  expect(answered.headers["grpc-status"]).toBe("7");
  other.destroy();
  session.destroy();
  await narrow.server.close(0);
});
const NARROW = { scopes: new Set(["account"]) };

test("an unknown member of Connect JSON is refused by its name", async () => {
  const session = open(rig.url);
  const headers = { "content-type": "application/json", authorization: "Bearer ana" };
  const { headers: found, body } = await call(
    session,
    GET_AGENT,
    headers,
    Buffer.from('{"agentId":"a","agentid":"b"}'),
  );
  expect(found[":status"]).toBe(400);
  expect(JSON.parse(body)).toMatchObject({ code: "invalid_argument", message: expect.stringContaining('"agentid"') });
  session.destroy();
});

test.each([
  ["connect-timeout-ms", "9999999999", "application/json", Buffer.from('{"agentId":"a"}')],
  ["grpc-timeout", "99999999H", "application/grpc+json", envelope(Buffer.from('{"agentId":"a"}'))],
])("a deadline beyond 24 days, %s, is not over at once", async (name, value, type, body) => {
  const session = open(rig.url);
  const headers = { "content-type": type, authorization: "Bearer ana", [name]: value };
  const { headers: found, trailers, body: said } = await call(session, GET_AGENT, headers, body);
  expect(found[":status"]).toBe(200);
  expect(trailers["grpc-status"] ?? "0").toBe("0");
  expect(said).toContain('"a"');
  session.destroy();
});

test("an exporter that sends several long exports before it is known who it is keeps its connection", async () => {
  const slow = await startRig({
    authenticator: {
      async authenticate() {
        // Several sweeps.
        await sleep(800);
        return { caller: ANA, assertion: "ana" };
      },
    },
  });
  try {
    const session = open(slow.url);
    const body = toBinary(
      ExportTraceServiceRequestSchema,
      exportOf("s", [{ attributes: { text: "x".repeat(200_000) } }]),
    );
    const headers = { "content-type": "application/proto", authorization: "Bearer ana" };
    const answers = await Promise.all(Array.from({ length: 6 }, () => call(session, EXPORT, headers, body)));
    expect(answers.map((answer) => answer.headers[":status"])).toEqual(Array(6).fill(200));
    session.destroy();
  } finally {
    await slow.server.close(100);
  }
});

test("behind hundreds of calls that wait, one of our own processes has the next one answered", async () => {
  const session = open(rig.url);
  const ours = { "content-type": "application/json", [ASSERTION_HEADER]: "ana" };
  const get = (agentId: string) => call(session, GET_AGENT, ours, Buffer.from(JSON.stringify({ agentId })));
  await get("first");
  for (let i = 0; i < 300; i++) void get("waits").catch(() => undefined);
  expect(JSON.parse((await get("next")).body)).toMatchObject({ agent: { id: "next" } });
  session.destroy();
});
