import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { ConnectionService } from "#proto/auth/v1/connection_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { SettingService } from "#proto/catalogue/v1/setting_service_pb.js";
import { connectClient } from "../../clients/node/connect.js";
import { missing as noJava, startMongoJavaServer } from "../support/mongo-java-server/server.js";
import { allow, askForTokens, connectByHand, redeem, refresh, register } from "../support/oauth/by-hand.js";
import { type EnterpriseIdp, startEnterpriseIdp } from "../support/oauth/enterprise-idp.js";
import { personAt, settleIn } from "../support/oauth/person.js";
import {
  type Child,
  freePorts,
  OWN_SERVERS,
  type Program,
  spawnProgram,
  startProgram,
  untilReady,
} from "../support/program.js";
import { titled } from "../support/titled.js";

// Two whole services on one MongoDB, and a façade alone that names both of their
// auth processes and is what clients know. The database is an independent server
// of MongoDB's protocol.

const LEASE_MS = 1_000;
const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/** Whatever a client calls with, and what ends it. */
interface InUse {
  readonly id: string;
  readonly token: string;
}

describe.skipIf(noJava)(titled("two services on one MongoDB", noJava), () => {
  let stopServer = (): void => undefined;
  let one: Program;
  let other: Child;
  let facade: Child;
  let dir: string;
  let grpc: Record<"one" | "other", string>;
  let doors: Record<"one" | "other" | "facade", string>;
  let idp: EnterpriseIdp;

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
    idp = await startEnterpriseIdp();
    const shared = {
      ...OWN_SERVERS,
      MONGODB_URI: `${server.uri}/several-auth`,
      LEASE_MS: String(LEASE_MS),
      BASE_URL: doors.facade,
      ID_JAG_ISSUERS: `${idp.issuer} RS256`,
    };
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
      BASE_URL: doors.facade,
      SERVICE_KEY_FILE: secrets.SERVICE_KEY_FILE,
      AUTH_URL: `${grpc.one},${grpc.other}`,
      CATALOGUE_URL: grpc.other,
      PLATFORM_PROXY_URL: grpc.other,
      CORE_OBJECTS_URL: grpc.other,
      TRACES_URL: grpc.other,
    });
    await Promise.all([untilReady(other), untilReady(facade)]);
    await settleIn({ baseUrl: doors.facade }, one.bootstrap.analyst);
  });

  afterAll(async () => {
    if (noJava !== undefined) return;
    one.process.kill("SIGCONT");
    for (const child of [facade, other]) await child.stop();
    await one.stop();
    await idp.close();
    rmSync(dir, { recursive: true, force: true });
    stopServer();
  });

  const clientAt = <S extends Parameters<typeof connectClient>[0]>(service: S, baseUrl: string) =>
    connectClient(service, { baseUrl, apiKey: one.bootstrap.admin.api_key });

  async function makeKey(): Promise<InUse> {
    const keys = connectClient(ApiKeyService, { baseUrl: grpc.other, apiKey: one.bootstrap.analyst.api_key });
    const { key, token } = await keys.createApiKey({ name: "In use" });
    return { id: key?.id as string, token };
  }

  const connect = () => connectByHand(doors.facade, "cti", personAt(one.bootstrap.analyst));

  async function exchangeAssertion(): Promise<string> {
    const { clientId } = await register(doors.facade);
    const { email } = one.bootstrap.analyst;
    const access = { audience: doors.facade, clientId, resource: `${doors.facade}/mcp/cti` };
    const assertion = await idp.idJag({ sub: "analyst", email, emailVerified: true }, access);
    const { body } = await askForTokens(doors.facade, {
      ...{ grant_type: JWT_BEARER, client_id: clientId, assertion },
    });
    if (body.access_token === undefined) throw new Error(`${body.error}: ${body.error_description}`);
    return body.access_token;
  }

  const grantIn = (token: string): string =>
    JSON.parse(Buffer.from(token.split(".")[1] as string, "base64url").toString()).gid;

  /** An API key, the token of a consent, and the token of an identity assertion, at the endpoint of cti. */
  async function makeAll(): Promise<readonly InUse[]> {
    const { access_token: consented } = (await connect()).tokens;
    const exchanged = await exchangeAssertion();
    return [await makeKey(), ...[consented, exchanged].map((token) => ({ id: grantIn(token), token }))];
  }

  const end = (at: string, ended: readonly InUse[]) =>
    Promise.all(ended.map(({ id }) => clientAt(ConnectionService, at).endConnection({ id })));

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
  const statusesOfAll = async (all: readonly InUse[], at: readonly string[]) =>
    new Set((await Promise.all(all.map(({ token }) => statuses(token, at)))).flat());
  const accepted = (all: readonly InUse[], at: readonly string[]) =>
    expect.poll(() => statusesOfAll(all, at), { timeout: 20_000 }).toEqual(new Set([200]));

  test("what one has ended is refused at every door, from the next request on: keys, grants of consents and of assertions", async () => {
    const all = Object.values(doors);
    for (const endedAt of [grpc.one, grpc.other]) {
      const made = await makeAll();
      await accepted(made, all);
      await end(endedAt, made);
      expect(await statusesOfAll(made, all)).toEqual(new Set([401]));
    }
  });

  test("a user whom one disables is refused at every door, from the next request on", async () => {
    const all = Object.values(doors);
    const made = await makeAll();
    await accepted(made, all);
    const { user } = await clientAt(UserService, grpc.one).getUser({ email: one.bootstrap.analyst.email });
    const id = user?.id as string;
    await clientAt(UserService, grpc.other).updateUser({ id, disabled: true });
    expect(await statusesOfAll(made, all)).toEqual(new Set([401]));
    await clientAt(UserService, grpc.one).updateUser({ id, disabled: false });
    expect(await statusesOfAll(made, all)).toEqual(new Set([200]));
  });

  test("of six redemptions of a code, three at each, one gives tokens; both exchange refresh tokens", async () => {
    const client = await register(doors.facade);
    const code = await allow(client, "cti", personAt(one.bootstrap.analyst));
    const each = Array.from({ length: 6 }, (_, i) => ({ ...code, base: i % 2 === 0 ? doors.one : doors.other }));
    const replies = await Promise.all(each.map(redeem));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);

    const { tokens, ...connected } = await connect();
    const first = await refresh({ ...connected, base: doors.one }, tokens.refresh_token);
    expect(first.status).toBe(200);
    const next = await refresh({ ...connected, base: doors.other }, first.body.refresh_token as string);
    expect(next.status).toBe(200);
  });

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
  });

  test("while one is stopped, the other serves and ends, and the façade goes to it; woken, it refuses too", async () => {
    const made = await makeAll();
    const kept = await makeAll();
    const { tokens, ...connected } = await connect();
    await accepted([...made, ...kept], Object.values(doors));
    one.process.kill("SIGSTOP");
    await end(grpc.other, made);
    expect(await statusesOfAll(made, [doors.other])).toEqual(new Set([401]));
    await accepted(kept, [doors.facade]);
    expect(await statusesOfAll(made, [doors.facade])).toEqual(new Set([401]));
    expect((await refresh(connected, tokens.refresh_token)).status).toBe(200);
    one.process.kill("SIGCONT");
    const until = performance.now() + 2 * LEASE_MS;
    while (performance.now() < until) {
      for (const status of await statusesOfAll(made, [doors.one])) expect([401, 503]).toContain(status);
      await sleep(10);
    }
    expect(await statusesOfAll(made, Object.values(doors))).toEqual(new Set([401]));
    await accepted(kept, Object.values(doors));
  });

  test("when one is killed, the other and the façade go on", async () => {
    const rest = [doors.other, doors.facade];
    const made = await makeAll();
    await accepted(made, rest);
    one.process.kill("SIGKILL");
    await accepted(made, rest);
    await end(grpc.other, made);
    expect(await statusesOfAll(made, rest)).toEqual(new Set([401]));
    // People still connect at the façade.
    const { access_token: token } = (await connect()).tokens;
    await accepted([{ id: grantIn(token), token }], rest);
  });
});
