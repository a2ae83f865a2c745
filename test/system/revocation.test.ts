import { Agent } from "undici";
import { afterEach, expect, test } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { connectClient } from "../../clients/node/connect.js";
import { freePorts, type Program, spawnProgram, startProgram, untilReady } from "../support/program.js";

const LEASE_MS = 1_000;
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

const BODY = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });

/** Sends requests of one key over many connections, so that the kernel spreads them over all workers. */
function caller(url: string, key: string) {
  const agent = new Agent({ connections: 64, pipelining: 1 });
  stops.push(() => agent.close());
  const { origin, pathname } = new URL(url);
  return async (): Promise<{ status: number; retryAfter: string | undefined }> => {
    const reply = await agent.request({
      origin,
      path: pathname,
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: BODY,
    });
    await reply.body.dump();
    return { status: reply.statusCode, retryAfter: reply.headers["retry-after"] as string | undefined };
  };
}

async function makeKey(program: Program): Promise<{ id: string; token: string }> {
  const { admin, analyst } = program.bootstrap;
  const keys = connectClient(ApiKeyService, { baseUrl: program.bootstrap.grpc_url, apiKey: admin.api_key });
  const { key, token } = await keys.createApiKey({ userEmail: analyst.email, name: "load" });
  return { id: key?.id as string, token };
}

test("with 4 workers under load, no request that begins after Revoke has returned is served", async () => {
  const program = await startProgram({ args: ["--workers", "4"] });
  stops.push(program.stop);
  const { id, token } = await makeKey(program);
  const request = caller(`${program.baseUrl}/mcp/core`, token);

  let loading = true;
  let servedBefore = 0;
  const load = Array.from({ length: 32 }, async () => {
    while (loading) if ((await request()).status === 200) servedBefore++;
  });
  await expect.poll(() => servedBefore, { timeout: 20_000 }).toBeGreaterThan(1_000);
  const keys = connectClient(ApiKeyService, {
    baseUrl: program.bootstrap.grpc_url,
    apiKey: program.bootstrap.admin.api_key,
  });
  await keys.revokeApiKey({ id });
  const after = await Promise.all(
    Array.from({ length: 64 }, async () => {
      const statuses: number[] = [];
      while (statuses.length < 10_000 / 64) statuses.push((await request()).status);
      return statuses;
    }),
  );
  loading = false;
  await Promise.all(load);
  const statuses = after.flat();
  expect(statuses.length).toBeGreaterThanOrEqual(10_000);
  expect(statuses.filter((status) => status === 200)).toEqual([]);
  expect(new Set(statuses)).toEqual(new Set([401]));
});

test("with auth killed, known keys work for at most a lease, then the answer is 503; with auth back, 200", async () => {
  const [authPort, restPort, facadePort] = await freePorts(3);
  const baseUrl = `http://127.0.0.1:${facadePort}`;
  const authUrl = `http://127.0.0.1:${authPort}`;
  const restUrl = `http://127.0.0.1:${restPort}`;
  const authEnv = {
    GRPC_PORT: String(authPort),
    BASE_URL: baseUrl,
    CATALOGUE_URL: restUrl,
    LEASE_MS: String(LEASE_MS),
    SERVICES: "auth",
    WORKERS: "0",
  };
  const auth = await startProgram({ env: authEnv });
  stops.push(auth.stop);
  const rest = spawnProgram("services/main.js", ["--services", "catalogue,platform-proxy,core-objects,traces"], {
    PORT: String(facadePort),
    GRPC_PORT: String(restPort),
    BASE_URL: baseUrl,
    AUTH_URL: authUrl,
    SERVICE_KEY_FILE: `${auth.dataDir}/service-key`,
    DATA_DIR: `${auth.dataDir}/rest`,
  });
  stops.push(rest.stop);
  await untilReady(rest);

  const request = caller(`${baseUrl}/mcp/cti`, auth.bootstrap.analyst.api_key);
  await expect.poll(async () => (await request()).status, { timeout: 10_000 }).toBe(200);

  auth.process.kill("SIGKILL");
  const killedAt = performance.now();
  let lastServed = 0;
  let refused: Awaited<ReturnType<typeof request>> | undefined;
  while (refused === undefined && performance.now() - killedAt < 20_000) {
    const begun = performance.now();
    const reply = await request();
    if (reply.status === 200) lastServed = begun - killedAt;
    else refused = reply;
  }
  expect(refused).toEqual({ status: 503, retryAfter: expect.stringMatching(/^\d+$/) });
  expect(lastServed).toBeLessThan(LEASE_MS + 100);
  expect((await request()).status).toBe(503);
  expect((await fetch(`${baseUrl}/readyz`)).status).toBe(503);

  const back = spawnProgram("services/main.js", [], { ...authEnv, DATA_DIR: auth.dataDir });
  stops.push(back.stop);
  await expect.poll(async () => (await request()).status, { timeout: 20_000, interval: 100 }).toBe(200);
});
