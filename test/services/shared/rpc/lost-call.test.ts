import { once } from "node:events";
import { createServer } from "node:http2";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, expect, test } from "vitest";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { RunService } from "#proto/core/v1/run_service_pb.js";
import { connectRemote } from "../../../../services/shared/rpc/remote.js";

// A process that dies or drains resets its streams with CANCEL. Its callers did not cancel anything: their calls were
// lost, which is "unavailable", and no fault of ours that nobody can do anything about.

/** Codes of RFC 9113 section 7. */
const [INTERNAL_ERROR, REFUSED_STREAM, CANCEL] = [0x2, 0x7, 0x8];

const closings: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0)) await close();
});

async function dispatchToDying(code = CANCEL) {
  const server = createServer();
  server.on("stream", (stream) => stream.on("error", () => undefined).close(code));
  await once(server.listen(0, "127.0.0.1"), "listening");
  closings.push(() => server.close());
  return connectRemote({ "core-objects": `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

const out = { credential: { authorization: "Bearer k" } };
const codeOf = (failing: Promise<unknown>): Promise<Code | undefined> =>
  failing.then(
    () => undefined,
    (error: unknown) => ConnectError.from(error).code,
  );
async function all(responses: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of responses);
}

test.each([CANCEL, REFUSED_STREAM, INTERNAL_ERROR])(
  "calls that a process resets with code %i are unavailable",
  async (code) => {
    const dispatch = await dispatchToDying(code);
    expect(await codeOf(dispatch.unary(AgentService.method.listAgents, {}, out))).toBe(Code.Unavailable);
    expect(await codeOf(all(dispatch.stream(RunService.method.triggerRun, {}, out)))).toBe(Code.Unavailable);
  },
);

test("a call whose connection is reset is unavailable", async () => {
  const server = createTcpServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => setTimeout(() => socket.resetAndDestroy(), 50));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  closings.push(() => server.close());
  const to = connectRemote({ "core-objects": `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  expect(await codeOf(to.unary(AgentService.method.createAgent, {}, out))).toBe(Code.Unavailable);
});

test("a call that its caller cancels is canceled", async () => {
  const dispatch = await dispatchToDying();
  const signal = AbortSignal.abort();
  expect(await codeOf(dispatch.unary(AgentService.method.listAgents, {}, { ...out, signal }))).toBe(Code.Canceled);
  expect(await codeOf(all(dispatch.stream(RunService.method.triggerRun, {}, { ...out, signal })))).toBe(Code.Canceled);
});
