import { createPublicKey, KeyObject } from "node:crypto";
import { type CryptoKey, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from "jose";

import { afterAll, beforeAll, expect, test } from "vitest";
import { AuditKind, AuditService } from "#proto/auth/v1/audit_service_pb.js";
import { ConnectionService } from "#proto/auth/v1/connection_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { connectClient } from "../../clients/node/connect.js";
import { SERVERS } from "../../services/shared/platforms.js";
import { post } from "../support/mcp.js";
import { Browser } from "../support/oauth/browser.js";
import { ClientState, claimsOf, nativeClient } from "../support/oauth/client-state.js";
import { connect, SDKS } from "../support/oauth/connect.js";
import {
  type OtherAuthorizationServer,
  startOtherAuthorizationServer,
} from "../support/oauth/other-authorization-server.js";
import { type Program, startProgram } from "../support/program.js";

// A company's own authorization server issues the tokens of the MCP endpoints.
// It is a certified one with its own pages; ours has none.

const CALLBACK = "http://127.0.0.1:41999/callback";
let other: OtherAuthorizationServer;
let program: Program;
let base: string;

beforeAll(async () => {
  other = await startOtherAuthorizationServer();
  const setting = {
    ...{ issuer: other.issuer, vendor: "rfc9068", email_domains: ["corp.example", "sallyport.example"] },
    scopes: { everything: ["core:read", "core:write"] },
  };
  program = await startProgram({ env: { EXTERNAL_AUTHORIZATION_SERVER: JSON.stringify(setting) } });
  base = program.baseUrl;
});
afterAll(async () => {
  await program?.stop();
  await other?.close();
});

const admin = <S extends Parameters<typeof connectClient>[0]>(service: S) =>
  connectClient(service, { baseUrl: program.bootstrap.grpc_url, apiKey: program.bootstrap.admin.api_key });

/** Somebody at the company, who has a user here. */
async function employ(name: string): Promise<{ readonly id: string; readonly browser: Browser }> {
  other.people.set(name, { email: `${name}@corp.example`, email_verified: true });
  const { user } = await admin(UserService).createUser({ email: `${name}@corp.example`, name });
  return { id: user?.id as string, browser: new Browser({ username: name, password: name }) };
}

async function connected(server: string, browser: Browser): Promise<string> {
  const state = new ClientState(CALLBACK, nativeClient(CALLBACK));
  const client = await connect("sdk 1, 2025-11-25", `${base}/mcp/${server}`, state, browser);
  await client.close();
  return state.tokens()?.access_token as string;
}
const statusAt = async (server: string, token: string): Promise<number> =>
  (await post(`${base}/mcp/${server}`, token, "tools/list")).status;

/** A token as the company's server would sign it. */
const signed = (
  claims: JWTPayload,
  { key = other.key, ...header }: { key?: CryptoKey; [name: string]: unknown } = {},
) => {
  const now = Math.floor(Date.now() / 1_000);
  return new SignJWT({
    ...{ iss: other.issuer, aud: `${base}/mcp/cti`, iat: now, exp: now + 300, client_id: "cli", scope: "cti:read" },
    ...claims,
  })
    .setProtectedHeader({ alg: "RS256", typ: "at+jwt", kid: "k", ...header })
    .sign(key);
};

test("the metadata of the endpoints names it alone, and there is nothing at the addresses of ours", async () => {
  for (const server of SERVERS) {
    const reply = await fetch(`${base}/.well-known/oauth-protected-resource/mcp/${server}`);
    expect(await reply.json()).toMatchObject({
      authorization_servers: [other.issuer],
      resource: `${base}/mcp/${server}`,
    });
  }
  for (const path of ["/.well-known/oauth-authorization-server", "/oauth/authorize", "/oauth/register", "/oauth/token"])
    expect((await fetch(`${base}${path}`)).status, path).toBe(404);
});

test.each(SDKS)("%s finds it, registers there, and calls with its token at the endpoint that it names", async (sdk) => {
  const { email } = program.bootstrap.analyst;
  other.people.set("analyst", { email, email_verified: true });
  const browser = new Browser({ username: "analyst", password: "analyst" });
  for (const server of SERVERS) {
    const state = new ClientState(CALLBACK, nativeClient(CALLBACK));
    const client = await connect(sdk, `${base}/mcp/${server}`, state, browser);
    const result = await client.call(server === "core" ? "list_agents" : "whoami");
    expect(result.isError ?? false).toBe(false);
    await client.close();
    const token = state.tokens()?.access_token as string;
    for (const one of SERVERS) expect(await statusAt(one, token), one).toBe(one === server ? 200 : 401);
  }
  const { connections } = await admin(ConnectionService).listConnections({ userEmail: email });
  expect(connections.map(({ server }) => server)).toEqual(expect.arrayContaining([...SERVERS]));
});

test("a token is good at no other door, and API keys go on", async () => {
  const { browser } = await employ("bo");
  const token = await connected("cti", browser);
  const users = connectClient(UserService, { baseUrl: program.bootstrap.grpc_url, apiKey: token, retries: 0 });
  await expect(users.listUsers({})).rejects.toThrow("unauthenticated");
  expect(await statusAt("cti", program.bootstrap.analyst.api_key)).toBe(200);
});

test("a connection that is ended takes no token from before, in any process; a later one begins another", async () => {
  const { id, browser } = await employ("cy");
  const token = await connected("cti", browser);
  expect(await statusAt("cti", token)).toBe(200);
  const { connections } = await admin(ConnectionService).listConnections({ userId: id });
  await admin(ConnectionService).endConnection({ id: connections[0]?.id as string });
  expect(await statusAt("cti", token)).toBe(401);
  const before = await signed({
    sub: "cy",
    client_id: claimsOf(token).client_id as string,
    iat: Math.floor(Date.now() / 1_000) - 5,
  });
  expect(await statusAt("cti", before)).toBe(401);
  const later = await signed({
    sub: "cy",
    client_id: claimsOf(token).client_id as string,
    iat: Math.floor(Date.now() / 1_000) + 2,
  });
  expect(await statusAt("cti", later)).toBe(200);
});

test("a disabled person's tokens are refused at once", async () => {
  const { id, browser } = await employ("di");
  const token = await connected("core", browser);
  expect(await statusAt("core", token)).toBe(200);
  await admin(UserService).updateUser({ id, disabled: true });
  expect(await statusAt("core", token)).toBe(401);
});

test("a token gives the scopes that it has, and those that the setting makes of others", async () => {
  await employ("ed");
  const aud = `${base}/mcp/core`;
  const writes = async (scope: string) => {
    const token = await signed({ sub: "ed", aud, scope, email: "ed@corp.example", email_verified: true });
    const { status, body } = await post(aud, token, "tools/list");
    return [status, JSON.stringify(body).includes('"create_agent"')];
  };
  expect(await writes("core:read")).toEqual([200, false]);
  expect(await writes("core:read core:write")).toEqual([200, true]);
  expect(await writes("everything")).toEqual([200, true]);
  const none = await signed({ sub: "ed", aud, scope: "cti:read" });
  expect((await post(aud, none, "tools/call", { name: "list_agents", arguments: {} })).status).toBe(403);
});

test("nobody is let in whom nobody knows, and nobody by what is not its own", async () => {
  await employ("fay");
  const whose = { sub: "fay", email: "fay@corp.example", email_verified: true };
  const stranger = (await generateKeyPair("RS256")).privateKey;
  const spki = createPublicKey(KeyObject.from(other.key)).export({ type: "spki", format: "pem" });
  const bad: Record<string, string> = {
    "an address that is not verified": await signed({ sub: "x1", email: "fay@corp.example" }),
    "an address of another domain": await signed({ sub: "x2", email: "fay@other.example", email_verified: true }),
    "somebody without a user": await signed({ sub: "x3", email: "nobody@corp.example", email_verified: true }),
    "another subject with the same address": "",
    "another key": await signed(whose, { key: stranger }),
    "another issuer": await signed({ ...whose, iss: "https://eve.example" }),
    "an ID token": await signed(whose, { typ: "JWT" }),
    "two endpoints": await signed({ ...whose, aud: [`${base}/mcp/cti`, `${base}/mcp/core`] }),
    "another resource": await signed({ ...whose, aud: `${base}/other` }),
    "a day": await signed({ ...whose, exp: Math.floor(Date.now() / 1_000) + 86_400 }),
    "no signature": new UnsecuredJWT({ ...whose, iss: other.issuer, aud: `${base}/mcp/cti` }).encode(),
    "the public key as a secret": await new SignJWT({
      ...whose,
      iss: other.issuer,
      aud: `${base}/mcp/cti`,
      client_id: "c",
      scope: "cti:read",
    })
      .setProtectedHeader({ alg: "HS256", typ: "at+jwt" })
      .setIssuedAt()
      .setExpirationTime("5m")
      .sign(Buffer.from(spki)),
    "a program": await signed({ ...whose, sub: "cli" }),
  };
  expect(await statusAt("cti", await signed(whose))).toBe(200);
  bad["another subject with the same address"] = await signed({ ...whose, sub: "fay-2" });
  for (const [what, token] of Object.entries(bad)) expect(await statusAt("cti", token), what).toBe(401);
  const refusals = async () => {
    const { records } = await admin(AuditService).listAuditRecords({ kind: AuditKind.REFUSAL, pageSize: 50 });
    return records.map(({ outcome }) => outcome);
  };
  await expect
    .poll(refusals, { timeout: 10_000 })
    .toEqual(expect.arrayContaining(["email_not_verified", "email_of_other_domain", "no_user", "linked_to_another"]));
});

test("while it does not answer, tokens whose keys are known are good", async () => {
  const { browser } = await employ("gus");
  const token = await connected("cti", browser);
  await other.close();
  expect(await statusAt("cti", token)).toBe(200);
  expect(await statusAt("cti", await signed({ sub: "gus" }))).toBe(200);
});
