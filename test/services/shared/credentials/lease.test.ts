import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { type Credentials, createCredentials } from "../../../../services/shared/credentials/credentials.js";
import { silentLog } from "../../../../services/shared/process/log.js";
import type { RpcServer } from "../../../../services/shared/rpc/connect.js";
import { connectRemote } from "../../../../services/shared/rpc/remote.js";
import { type Stack, serve, startStack } from "../../auth/stack.js";

const LEASE_MS = 1_500;

let stack: Stack;
let server: RpcServer;
let credentials: Credentials;
let events: string[];

beforeEach(async () => {
  stack = await startStack({ leaseMs: LEASE_MS });
  server = await serve(stack);
  const { port } = server;
  events = [];
  credentials = createCredentials({
    dispatch: connectRemote({ auth: `http://127.0.0.1:${port}` }),
    credential: { authorization: `Bearer ${stack.secrets.serviceKey}` },
    log: silentLog,
  });
  credentials.onEvent(({ kind }) => {
    events.push(kind);
  });
  await vi.waitFor(() => expect(credentials.leased()).toBe(true), { interval: 5, timeout: 10_000 });
});
afterEach(async () => {
  await credentials.close();
  await server.close(0);
  await stack.close();
});

async function revokeNewKey(): Promise<string> {
  const { analyst } = stack.secrets;
  const { key, token } = await stack.as(analyst.apiKey, ApiKeyService.method.createApiKey, { name: "K" });
  await stack.as(analyst.apiKey, ApiKeyService.method.revokeApiKey, { id: key?.id as string });
  return token;
}

test("a watch over HTTP/2 hears of a revocation before it returns", async () => {
  const token = await revokeNewKey();
  expect(events).toEqual(["reset", "key"]);
  expect(await credentials.verify(token)).toEqual({ refused: "revoked" });
});

test("a watch recovers after the server was away, and hears what it missed without starting over", async () => {
  const { port } = server;
  await server.close(0);
  await vi.waitFor(() => expect(credentials.leased()).toBe(false), { interval: 10, timeout: 10_000 });
  await revokeNewKey();
  expect(events).toEqual(["reset"]);
  server = await serve(stack, port);
  await vi.waitFor(() => expect(credentials.leased()).toBe(true), { interval: 10, timeout: 10_000 });
  expect(events).toEqual(["reset", "key"]);
});

test("a process that ends in good order gives its lease back, so that nobody waits for it", async () => {
  await credentials.close();
  expect(credentials.leased()).toBe(false);
  const { analyst } = stack.secrets;
  const { key } = await stack.as(analyst.apiKey, ApiKeyService.method.createApiKey, { name: "K" });
  const id = key?.id as string;
  expect(await stack.as(analyst.apiKey, ApiKeyService.method.revokeApiKey, { id })).toMatchObject({
    acknowledged: 0,
    expired: 0,
  });
});

test("a lease lives on renewals for as long as the server answers", async () => {
  const until = performance.now() + 2 * LEASE_MS;
  while (performance.now() < until) {
    expect(credentials.leased()).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
});
