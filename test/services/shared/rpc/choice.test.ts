import { once } from "node:events";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, expect, test } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { CredentialService } from "#proto/auth/v1/credential_service_pb.js";
import { WatchService } from "#proto/auth/v1/watch_service_pb.js";
import { createOutbox } from "../../../../services/shared/credentials/outbox.js";
import { silentLog } from "../../../../services/shared/process/log.js";
import { type RpcServer, serveConnect } from "../../../../services/shared/rpc/connect.js";
import { unavailable } from "../../../../services/shared/rpc/errors.js";
import { duplex, type Method, unary } from "../../../../services/shared/rpc/method.js";
import { connectRemote } from "../../../../services/shared/rpc/remote.js";
import { freePorts } from "../../../support/program.js";

const closings: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).reverse()) await close();
});

const caller = { id: "u", email: "", name: "", admin: true, groups: [], keyId: "", service: true };
const steps = {
  authenticator: {
    authenticate: async () => ({
      caller: { ...caller, scopes: new Set(["internal", "admin", "account"]) },
      assertion: "",
    }),
  },
  log: silentLog,
};

/** A process of auth that counts what it is asked. */
async function startProcess(name: string, port = 0, answers: () => void = () => undefined) {
  const asked: string[] = [];
  const note = <T>(what: string, answer: T): T => {
    asked.push(what);
    answers();
    return answer;
  };
  const methods: Method[] = [
    unary(CredentialService.method.getAssertionKeys, () => note("read", { jwks: name })),
    unary(ApiKeyService.method.createApiKey, () => note("write", { token: name })),
    duplex(WatchService.method.watch, async function* () {
      yield note("watch", { message: { case: "welcome" as const, value: {} } });
    }),
  ];
  const server: RpcServer = await serveConnect({
    host: "127.0.0.1",
    port,
    methods: methods.map((method) => ({ method, steps })),
  });
  closings.push(() => server.close(0));
  return { asked, url: `http://127.0.0.1:${server.port}`, close: () => server.close(0) };
}

const out = { credential: { authorization: "Bearer k" } };
const dispatchOf = (...auth: string[]) => connectRemote({ auth });
const read = async (dispatch: ReturnType<typeof dispatchOf>) =>
  (await dispatch.unary(CredentialService.method.getAssertionKeys, {}, out)).jwks;
const write = async (dispatch: ReturnType<typeof dispatchOf>) =>
  (await dispatch.unary(ApiKeyService.method.createApiKey, { name: "n" }, out)).token;

test("one process is asked until it cannot be reached, then the next, and the first again after that", async () => {
  const [a, b] = [await startProcess("a"), await startProcess("b")];
  const dispatch = dispatchOf(a.url, b.url);
  expect([await read(dispatch), await read(dispatch), await write(dispatch)]).toEqual(["a", "a", "a"]);
  expect(b.asked).toEqual([]);
  await a.close();
  expect([await read(dispatch), await write(dispatch)]).toEqual(["b", "b"]);
  const again = await startProcess("a again", Number(new URL(a.url).port));
  expect(await read(dispatch)).toBe("b");
  await b.close();
  expect(await read(dispatch)).toBe("a again");
  expect(again.asked).toEqual(["read"]);
});

test("what may be done once only is asked again where nobody listened, and not where the answer was lost", async () => {
  const b = await startProcess("b");
  const [nobody] = await freePorts(1);
  expect(await write(dispatchOf(`http://127.0.0.1:${nobody}`, b.url))).toBe("b");

  const loses = createServer((request) => request.stream.session?.destroy());
  await once(loses.listen(0, "127.0.0.1"), "listening");
  closings.push(() => loses.close());
  const dispatch = dispatchOf(`http://127.0.0.1:${(loses.address() as AddressInfo).port}`, b.url);
  await expect(write(dispatch)).rejects.toThrow();
  expect(b.asked).toEqual(["write"]);
  expect(await write(dispatch)).toBe("b");
});

test("an error that a process answers is the answer: no other one is asked", async () => {
  const a = await startProcess("a", 0, () => {
    throw unavailable("too many");
  });
  const b = await startProcess("b");
  const dispatch = dispatchOf(a.url, b.url);
  for (let i = 0; i < 2; i++) {
    const error = await read(dispatch).catch((problem: unknown) => ConnectError.from(problem));
    expect(error).toMatchObject({ code: Code.Unavailable, rawMessage: "too many" });
  }
  expect(b.asked).toEqual([]);
});

test("when the stream ends, calls go to the next process too, and reads that wait for the first", async () => {
  const hangs = createServer(() => undefined);
  await once(hangs.listen(0, "127.0.0.1"), "listening");
  closings.push(() => hangs.close());
  const b = await startProcess("b");
  const dispatch = dispatchOf(`http://127.0.0.1:${(hangs.address() as AddressInfo).port}`, b.url);
  const waiting = read(dispatch);
  const lost = new AbortController();
  const responses = dispatch.duplex(WatchService.method.watch, createOutbox<never>(), { ...out, signal: lost.signal });
  const watching = (async () => {
    for await (const _ of responses);
  })();
  setTimeout(() => lost.abort(), 50);
  await expect(watching).rejects.toThrow();
  expect(await waiting).toBe("b");
});

test("where no process can be reached, the error says so", async () => {
  const [one, two] = await freePorts(2);
  const error = await read(dispatchOf(`http://127.0.0.1:${one}`, `http://127.0.0.1:${two}`)).catch((problem: unknown) =>
    ConnectError.from(problem),
  );
  expect(error).toMatchObject({ code: Code.Unavailable });
});
