import { once } from "node:events";
import { connect as connectSocket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { EndpointService } from "#proto/catalogue/v1/endpoint_service_pb.js";
import { SettingService } from "#proto/catalogue/v1/setting_service_pb.js";
import { Health } from "#proto/grpc/health/v1/health_pb.js";
import { ServerReflection } from "#proto/grpc/reflection/v1/reflection_pb.js";
import { createLog, silentLog } from "../../../../services/shared/process/log.js";
import type { Authenticator, Call, Caller } from "../../../../services/shared/rpc/call.js";
import type { Chain } from "../../../../services/shared/rpc/chain.js";
import { type RpcServer, serveConnect } from "../../../../services/shared/rpc/connect.js";
import type { Dispatch } from "../../../../services/shared/rpc/dispatch.js";
import { aborted, unauthenticated } from "../../../../services/shared/rpc/errors.js";
import { health } from "../../../../services/shared/rpc/health.js";
import { mountInProcess } from "../../../../services/shared/rpc/in-process.js";
import { duplex, type Method, serverStream, unary, withScope } from "../../../../services/shared/rpc/method.js";
import { connectRemote } from "../../../../services/shared/rpc/remote.js";
import type { Outcome } from "../../../../services/shared/rpc/steps/record.js";

const ANA: Caller = {
  id: "u1",
  email: "ana@example.org",
  name: "Ana",
  admin: false,
  groups: [],
  scopes: new Set(["account", "public"]),
  keyId: "k1",
  service: false,
};

const authenticator: Authenticator = {
  authenticate({ assertion, authorization }) {
    if (assertion === "ana") return { caller: ANA, assertion };
    // An answer that takes a moment, as one from auth does.
    if (authorization === "Bearer ana") return sleep(5, { caller: ANA, assertion: "ana" });
    throw unauthenticated("present a credential");
  },
};

const seen: { call?: Call; outcomes: Outcome[] } = { outcomes: [] };
const steps: Chain = { authenticator, log: silentLog, observe: (_m, _i, outcome) => void seen.outcomes.push(outcome) };
const methods: Method[] = [
  unary(EndpointService.method.listVisibleTools, async ({ server }, call) => {
    seen.call = call;
    if (server === "moved") throw aborted("it has moved on");
    if (server === "broken") throw new Error("a secret of ours");
    if (server === "slow") await sleep(60_000, undefined, { signal: call.signal });
    return { tools: [server], keepMs: 1 };
  }),
  unary(SettingService.method.getSettings, () => ({ settings: { core: true } })),
  ...health(async () => undefined),
];

let server: RpcServer;
const mounts: Record<string, () => Dispatch> = {
  "in process": () => mountInProcess(methods, steps),
  "over Connect": () => connectRemote({ catalogue: `http://127.0.0.1:${server.port}` }),
};
beforeAll(async () => {
  const mounted = methods.map((method) => ({ method, steps }));
  server = await serveConnect({ host: "127.0.0.1", port: 0, methods: mounted });
});
afterAll(() => server.close(100));

const list = (dispatch: Dispatch, request: object, out = {}) =>
  dispatch.unary(EndpointService.method.listVisibleTools, request, { credential: { assertion: "ana" }, ...out });
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => ConnectError.from(error),
  );

describe.each(Object.keys(mounts))("a method mounted %s", (name) => {
  const dispatch = () => (mounts[name] as () => Dispatch)();

  test("answers, and knows caller, deadline and trace", async () => {
    const deadline = Date.now() + 5_000;
    const reply = await list(dispatch(), { server: "cti" }, { deadline, traceparent: "00-1-2-01" });
    expect(reply.tools).toEqual(["cti"]);
    expect(seen.call).toMatchObject({ caller: ANA, assertion: "ana", traceparent: "00-1-2-01" });
    expect(Math.abs((seen.call?.deadline as number) - deadline)).toBeLessThan(500);
  });

  test("takes an API key in authorization", async () => {
    const reply = await list(dispatch(), { server: "cti" }, { credential: { authorization: "Bearer ana" } });
    expect(reply.tools).toEqual(["cti"]);
  });

  test("is refused without a credential", async () => {
    expect(await codeOf(list(dispatch(), { server: "cti" }, { credential: {} }))).toMatchObject({
      code: Code.Unauthenticated,
      rawMessage: "present a credential",
    });
  });

  test("is refused without the scope that the rpc states", async () => {
    const out = { credential: { assertion: "ana" } };
    expect(await codeOf(dispatch().unary(SettingService.method.getSettings, {}, out))).toMatchObject({
      code: Code.PermissionDenied,
      rawMessage: "this call needs the scope admin: use an API key that has it",
    });
  });

  test("is refused what breaks a rule, and told which", async () => {
    expect(await codeOf(list(dispatch(), { server: "" }))).toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: expect.stringContaining("server"),
    });
  });

  test("passes its own codes on", async () => {
    expect(await codeOf(list(dispatch(), { server: "moved" }))).toMatchObject({
      code: Code.Aborted,
      rawMessage: "it has moved on",
    });
  });

  test("does not begin after its deadline, and ends at it", async () => {
    expect(await codeOf(list(dispatch(), { server: "cti" }, { deadline: Date.now() - 1 }))).toMatchObject({
      code: Code.DeadlineExceeded,
    });
    expect(await codeOf(list(dispatch(), { server: "slow" }, { deadline: Date.now() + 50 }))).toMatchObject({
      code: Code.DeadlineExceeded,
    });
  });

  test("is cancelled with its signal", async () => {
    const leave = new AbortController();
    const call = codeOf(list(dispatch(), { server: "slow" }, { signal: leave.signal }));
    setTimeout(() => leave.abort(), 20);
    expect(await call).toMatchObject({ code: Code.Canceled });
    await expect.poll(() => seen.call?.signal.aborted).toBe(true);
  });

  test("serves what is public to everybody", async () => {
    const reply = await dispatch()
      .unary(Health.method.check, {}, { credential: {} })
      .catch((error: unknown) => error);
    if (name === "in process") expect(reply).toMatchObject({ status: 1 });
  });

  test("is observed with its outcome", async () => {
    const begun = performance.now();
    await list(dispatch(), { server: "cti" });
    await codeOf(list(dispatch(), { server: "moved" }));
    // A call that was cancelled before may begin, end, and be told of only now.
    const outcomes = seen.outcomes.filter(({ startedAt, code }) => startedAt >= begun && code !== Code.Canceled);
    expect(outcomes.map((outcome) => outcome.code)).toEqual([undefined, Code.Aborted]);
    expect(outcomes[0]?.caller).toBe(ANA);
  });
});

test("a signal that is first asked for when its call was cancelled, or its deadline has passed, is aborted", async () => {
  const dispatch = mounts["in process"]?.() as Dispatch;
  const leave = new AbortController();
  await list(dispatch, { server: "cti" }, { signal: leave.signal });
  leave.abort();
  expect(seen.call?.signal.aborted).toBe(true);
  const deadline = Date.now() + 20;
  await list(dispatch, { server: "cti" }, { deadline });
  const { call } = seen;
  await expect.poll(() => Date.now()).toBeGreaterThan(deadline);
  expect(call?.signal.aborted).toBe(true);
});

test("a stream whose reader leaves before its end is recorded once", async () => {
  const own: Outcome[] = [];
  const watch = serverStream(Health.method.watch, async function* () {
    for (;;) yield { status: 1 };
  });
  const observed = { ...steps, observe: (_m: unknown, _i: unknown, outcome: Outcome) => void own.push(outcome) };
  const dispatch = mountInProcess([withScope("public", watch)], observed);
  for await (const reply of dispatch.stream(Health.method.watch, {}, { credential: {} })) {
    expect(reply.status).toBe(1);
    break;
  }
  expect(own.map((outcome) => outcome.code)).toEqual([undefined]);
});

test("a write leaves an audit line with the names of its arguments, not their values", async () => {
  const lines: unknown[] = [];
  const log = createLog("info", { write: (line) => void lines.push(JSON.parse(line)) });
  const revoke = unary(ApiKeyService.method.revokeApiKey, async () => ({}));
  const dispatch = mountInProcess([revoke], { authenticator, log });
  await dispatch.unary(ApiKeyService.method.revokeApiKey, { id: "k7" }, { credential: { assertion: "ana" } });
  expect(lines).toMatchObject([{ audit: true, code: "ok", caller: "u1", key: "k1", args: ["id"], target: "k7" }]);
});

test.each(["P", "PO", "POS"])("a request whose first bytes are %s is still one of HTTP/1.1", async (first) => {
  const socket = connectSocket(server.port, "127.0.0.1");
  const body = "{}";
  const request = `POST /grpc.health.v1.Health/Check HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  socket.setNoDelay(true);
  socket.write(first);
  await sleep(30);
  socket.write(request.slice(first.length));
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1.1 200/);
  socket.destroy();
});

test("an error of ours keeps its words inside over the wire", async () => {
  const failed = await codeOf(list(mounts["over Connect"]?.() as Dispatch, { server: "broken" }));
  expect(failed).toMatchObject({ code: Code.Internal });
  expect(failed?.rawMessage).not.toContain("secret");
});

test("a stream both ways that nobody ends does not hold up the end of the server", async () => {
  const endless = duplex(ServerReflection.method.serverReflectionInfo, async function* (requests) {
    for await (const request of requests) yield { validHost: request.host };
  });
  const own = await serveConnect({
    host: "127.0.0.1",
    port: 0,
    methods: [{ method: withScope("public", endless), steps }],
  });
  const client = createClient(
    ServerReflection,
    createConnectTransport({ baseUrl: `http://127.0.0.1:${own.port}`, httpVersion: "2" }),
  );
  let hangUp = (): void => undefined;
  const over = new Promise<void>((resolve) => {
    hangUp = resolve;
  });
  async function* ask() {
    yield { host: "one" };
    await over;
  }
  const replies = client.serverReflectionInfo(ask())[Symbol.asyncIterator]();
  expect((await replies.next()).value).toMatchObject({ validHost: "one" });
  // As a watcher does: it goes on until the server has said all.
  const end = replies.next().then(({ done }) => {
    hangUp();
    return done;
  });
  const begun = performance.now();
  await own.close(10_000);
  expect(await end).toBe(true);
  expect(performance.now() - begun).toBeLessThan(3_000);
});

test("Connect over HTTP/1.1 and gRPC-Web are spoken on the same port", async () => {
  const url = `http://127.0.0.1:${server.port}/grpc.health.v1.Health/Check`;
  const connect = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });
  expect(await connect.json()).toEqual({ status: "SERVING" });
  const web = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/grpc-web+proto", "x-grpc-web": "1" },
    body: new Uint8Array(5),
  });
  expect(web.headers.get("content-type")).toBe("application/grpc-web+proto");
  expect(new Uint8Array(await web.arrayBuffer()).slice(5, 7)).toEqual(new Uint8Array([8, 1]));
});
