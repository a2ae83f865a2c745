import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { SettingService } from "#proto/catalogue/v1/setting_service_pb.js";
import { connectClient } from "../../clients/node/connect.js";
import { missing as noJava, startMongoJavaServer } from "../support/mongo-java-server/server.js";
import { type Child, freePorts, type Program, spawnProgram, startProgram, untilReady } from "../support/program.js";
import { titled } from "../support/titled.js";

// Two whole services on one MongoDB, and a façade alone that names both of their
// auth processes. The database is an independent server of MongoDB's protocol.

const LEASE_MS = 1_000;

describe.skipIf(noJava)(titled("two services on one MongoDB", noJava), () => {
  let stopServer = (): void => undefined;
  let one: Program;
  let other: Child;
  let facade: Child;
  let dir: string;
  let grpc: Record<"one" | "other", string>;
  let doors: Record<"one" | "other" | "facade", string>;

  beforeAll(async () => {
    if (noJava !== undefined) return;
    const server = await startMongoJavaServer();
    stopServer = () => server.stop();
    dir = mkdtempSync(join(tmpdir(), "several-"));
    const [oneGrpc, otherGrpc, onePort, otherPort, facadePort] = (await freePorts(5)) as [
      number,
      number,
      number,
      number,
      number,
    ];
    const url = (port: number): string => `http://127.0.0.1:${port}`;
    grpc = { one: url(oneGrpc), other: url(otherGrpc) };
    doors = { one: url(onePort), other: url(otherPort), facade: url(facadePort) };
    const shared = { MONGODB_URI: `${server.uri}/several-auth`, LEASE_MS: String(LEASE_MS) };
    one = await startProgram({ env: { ...shared, PORT: String(onePort), GRPC_PORT: String(oneGrpc) } });
    const secrets = {
      SERVICE_KEY_FILE: join(one.dataDir, "service-key"),
      SECRETS_KEY_FILE: join(one.dataDir, "secrets-key"),
    };
    other = spawnProgram("services/main.js", [], {
      ...shared,
      ...secrets,
      PORT: String(otherPort),
      GRPC_PORT: String(otherGrpc),
      DATA_DIR: join(dir, "other"),
    });
    facade = spawnProgram("facade/main.js", [], {
      PORT: String(facadePort),
      SERVICE_KEY_FILE: secrets.SERVICE_KEY_FILE,
      AUTH_URL: `${grpc.one},${grpc.other}`,
      CATALOGUE_URL: grpc.other,
      PLATFORM_PROXY_URL: grpc.other,
      CORE_OBJECTS_URL: grpc.other,
      TRACES_URL: grpc.other,
    });
    await Promise.all([untilReady(other), untilReady(facade)]);
  }, 120_000);

  afterAll(async () => {
    if (noJava !== undefined) return;
    one.process.kill("SIGCONT");
    for (const child of [facade, other]) await child.stop();
    await one.stop();
    rmSync(dir, { recursive: true, force: true });
    stopServer();
  }, 60_000);

  const clientAt = <S extends Parameters<typeof connectClient>[0]>(service: S, baseUrl: string) =>
    connectClient(service, { baseUrl, apiKey: one.bootstrap.admin.api_key });

  async function makeKey(): Promise<{ readonly id: string; readonly token: string }> {
    const keys = connectClient(ApiKeyService, { baseUrl: grpc.other, apiKey: one.bootstrap.analyst.api_key });
    const { key, token } = await keys.createApiKey({ name: "In use" });
    return { id: key?.id as string, token };
  }

  async function statusOf(door: string, token: string, path = "/mcp/cti"): Promise<number> {
    const reply = await fetch(`${door}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
    });
    await reply.arrayBuffer();
    return reply.status;
  }

  const statuses = (token: string, at: readonly string[], path?: string) =>
    Promise.all(at.map((door) => statusOf(door, token, path)));
  const accepted = (token: string, at: readonly string[]) =>
    expect.poll(() => statuses(token, at), { timeout: 20_000 }).toEqual(at.map(() => 200));

  test("a key that one has revoked is refused at every door, from the next request on", async () => {
    const all = Object.values(doors);
    for (const revokedAt of [grpc.one, grpc.other]) {
      const { id, token } = await makeKey();
      await accepted(token, all);
      await clientAt(ApiKeyService, revokedAt).revokeApiKey({ id });
      expect(await statuses(token, all)).toEqual([401, 401, 401]);
    }
  }, 60_000);

  test("a user whom one disables is refused at every door, from the next request on", async () => {
    const all = Object.values(doors);
    const { token } = await makeKey();
    await accepted(token, all);
    const { user } = await clientAt(UserService, grpc.one).getUser({ email: one.bootstrap.analyst.email });
    const id = user?.id as string;
    await clientAt(UserService, grpc.other).updateUser({ id, disabled: true });
    expect(await statuses(token, all)).toEqual([401, 401, 401]);
    await clientAt(UserService, grpc.one).updateUser({ id, disabled: false });
    expect(await statuses(token, all)).toEqual([200, 200, 200]);
  }, 60_000);

  test("a switch that one turns is turned at every door, from the next request on", async () => {
    const all = Object.values(doors);
    const { token } = await makeKey();
    for (const [at, core] of [
      [grpc.one, true],
      [grpc.other, false],
      [grpc.one, true],
    ] as const) {
      await clientAt(SettingService, at).updateSettings({ core });
      const found = await statuses(token, all, "/mcp/core");
      expect(found).toEqual(all.map(() => (core ? 200 : found[0])));
      expect(found[0] === 200).toBe(core);
    }
  }, 60_000);

  test("while one is stopped, the other serves and revokes, and the façade goes to it; woken, it refuses too", async () => {
    const { id, token } = await makeKey();
    const kept = await makeKey();
    await accepted(token, Object.values(doors));
    one.process.kill("SIGSTOP");
    await clientAt(ApiKeyService, grpc.other).revokeApiKey({ id });
    expect(await statusOf(doors.other, token)).toBe(401);
    await expect.poll(() => statusOf(doors.facade, kept.token), { timeout: 20_000 }).toBe(200);
    expect(await statusOf(doors.facade, token)).toBe(401);
    one.process.kill("SIGCONT");
    const until = performance.now() + 2 * LEASE_MS;
    while (performance.now() < until) {
      expect([401, 503]).toContain(await statusOf(doors.one, token));
      await sleep(10);
    }
    expect(await statuses(token, Object.values(doors))).toEqual([401, 401, 401]);
    await accepted(kept.token, Object.values(doors));
  }, 60_000);

  test("when one is killed, the other and the façade go on", async () => {
    const { id, token } = await makeKey();
    const rest = [doors.other, doors.facade];
    await accepted(token, rest);
    one.process.kill("SIGKILL");
    await accepted(token, rest);
    await clientAt(ApiKeyService, grpc.other).revokeApiKey({ id });
    expect(await statuses(token, rest)).toEqual([401, 401]);
  }, 60_000);
});
