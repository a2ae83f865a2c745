import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { KeyRingService } from "#proto/auth/v1/key_ring_service_pb.js";
import { connectClient } from "../../clients/node/connect.js";
import { post } from "../support/mcp.js";
import { Browser } from "../support/oauth/browser.js";
import {
  allow,
  askForTokens,
  authorizeUrl,
  connectByHand,
  redeem,
  refresh,
  register,
} from "../support/oauth/by-hand.js";
import { claimsOf, nativeClient } from "../support/oauth/client-state.js";
import { OWN_PASSWORD, personAt, settleIn } from "../support/oauth/person.js";
import { type Program, startProgram } from "../support/program.js";

// What a code and a refresh token are good for, how often, and what ends them.

let program: Program;
let base: string;
beforeAll(async () => {
  program = await startProgram();
  base = program.baseUrl;
  await settleIn(program, program.bootstrap.analyst);
});
afterAll(() => program?.stop());

const person = () => personAt(program.bootstrap.analyst);
const statusOf = async (token: string, server = "cti") =>
  (await post(`${base}/mcp/${server}`, token, "tools/list")).status;

test("of six parallel redemptions of a code one gives tokens, and a later one takes them back", async () => {
  const allowed = await allow(await register(base), "cti", person());
  const replies = await Promise.all(Array.from({ length: 6 }, () => redeem(allowed)));
  const good = replies.filter(({ status }) => status === 200);
  expect(good).toHaveLength(1);
  for (const { status, body } of replies.filter((reply) => reply !== good[0])) {
    expect({ status, error: body.error }).toEqual({ status: 400, error: "invalid_grant" });
  }
});

test("a code that is redeemed twice ends the connection (RFC 6749 section 4.1.2)", async () => {
  const allowed = await allow(await register(base), "cti", person());
  const { body } = await redeem(allowed);
  expect(await statusOf(body.access_token as string)).toBe(200);
  expect((await redeem(allowed)).body.error).toBe("invalid_grant");
  expect(await statusOf(body.access_token as string)).toBe(401);
  expect((await refresh(allowed, body.refresh_token as string)).body.error).toBe("invalid_grant");
});

test("a code is for its client, its verifier and its redirect alone", async () => {
  const client = await register(base);
  const other = await register(base);
  for (const changed of [
    { clientId: other.clientId },
    { verifier: "x".repeat(43) },
    { callback: "http://127.0.0.1:41999/else" },
  ]) {
    const allowed = await allow(client, "cti", person());
    const { status } = await redeem({ ...allowed, ...changed });
    expect([400, 401], JSON.stringify(changed)).toContain(status);
  }
});

test("a refresh token works again within the leeway; after it, its use ends the connection at once", async () => {
  const connected = await connectByHand(base, "cti", person());
  const first = connected.tokens.refresh_token;
  const replies = await Promise.all(Array.from({ length: 5 }, () => refresh(connected, first)));
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  const newest = replies[4]?.body.access_token as string;
  expect(await statusOf(newest)).toBe(200);
  await sleep(10_500);
  expect(await refresh(connected, first)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
  // Whoever had the token may have others of its family.
  expect(await statusOf(newest)).toBe(401);
  expect(await statusOf(connected.tokens.access_token)).toBe(401);
  expect((await refresh(connected, replies[4]?.body.refresh_token as string)).body.error).toBe("invalid_grant");
});

test("a refresh token gives tokens of its own resource alone, and of no more scopes", async () => {
  const connected = await connectByHand(base, "cti", person());
  const other = await refresh(connected, connected.tokens.refresh_token, { resource: `${base}/mcp/grc` });
  expect(other).toMatchObject({ status: 400, body: { error: "invalid_target" } });
  const more = await refresh(connected, connected.tokens.refresh_token, { scope: "cti:read grc:read" });
  expect(more).toMatchObject({ status: 400, body: { error: "invalid_scope" } });
  const without = await refresh(connected, connected.tokens.refresh_token);
  expect(claimsOf(without.body.access_token as string)).toMatchObject({ aud: `${base}/mcp/cti` });
});

test("a client that revokes its refresh token ends the connection (RFC 7009)", async () => {
  const connected = await connectByHand(base, "cti", person());
  const reply = await fetch(`${base}/oauth/revoke`, {
    method: "POST",
    body: new URLSearchParams({ token: connected.tokens.refresh_token, client_id: connected.clientId }),
  });
  expect(reply.status).toBe(200);
  expect(await statusOf(connected.tokens.access_token)).toBe(401);
});

test("a person who allows reading only gives a token that cannot change anything", async () => {
  const { email } = program.bootstrap.analyst;
  const { tokens } = await connectByHand(base, "cti", new Browser({ email, password: OWN_PASSWORD, answer: "allow" }));
  expect(tokens.scope).toBe("cti:read");
  const reply = await post(`${base}/mcp/cti`, tokens.access_token, "tools/call", {
    name: "create_indicator",
    arguments: {},
  });
  expect(reply.status, reply.text).toBe(403);
  expect(reply.headers.get("www-authenticate")).toMatch(
    /^Bearer error="insufficient_scope", scope="cti:read cti:write", resource_metadata="[^"]+"$/,
  );
});

test("a person who denies sends the client back without a code", async () => {
  const { email } = program.bootstrap.analyst;
  const client = await register(base);
  const browser = new Browser({ email, password: OWN_PASSWORD, answer: "deny" });
  const back = await browser.follow(authorizeUrl(client, { resource: `${base}/mcp/cti` }), client.callback);
  expect(Object.fromEntries(back.searchParams)).toMatchObject({
    error: "access_denied",
    state: "the-state",
    iss: base,
  });
});

test("consent is asked each time, of the same client too", async () => {
  const client = await register(base);
  const browser = person();
  await allow(client, "cti", browser);
  await allow(client, "cti", browser);
  const consents = browser.pages.filter((page) => page.includes("<h1>Connect"));
  expect(consents).toHaveLength(2);
  // Signed in once.
  expect(browser.pages.filter((page) => page.includes("<h1>Sign in"))).toHaveLength(1);
});

test.each([
  ["no resource", [], {}, "invalid_target"],
  ["two resources", ["/mcp/cti", "/mcp/grc"], {}, "invalid_target"],
  ["a resource that is no endpoint", ["/mcp"], {}, "invalid_target"],
  ["plain PKCE", ["/mcp/cti"], { code_challenge_method: "plain" }, "invalid_request"],
  ["no PKCE", ["/mcp/cti"], { code_challenge: "", code_challenge_method: "" }, "invalid_request"],
  ["another response type", ["/mcp/cti"], { response_type: "token" }, "unsupported_response_type"],
])("an authorization with %s is refused, and the client is told", async (_name, resources, more, error) => {
  const client = await register(base);
  const url = authorizeUrl(client, more);
  for (const resource of resources) url.searchParams.append("resource", `${base}${resource}`);
  for (const [name, value] of [...url.searchParams]) if (value === "") url.searchParams.delete(name);
  const back = await person().follow(url, client.callback);
  const told = new URLSearchParams(back.search || back.hash.slice(1));
  expect(Object.fromEntries(told)).toMatchObject({ error, state: "the-state", iss: base });
  expect(told.has("code")).toBe(false);
});

test("no other grant type is served", async () => {
  const { clientId } = await register(base);
  for (const grant_type of [
    "client_credentials",
    "password",
    "urn:ietf:params:oauth:grant-type:device_code",
    "implicit",
  ]) {
    const { status, body } = await askForTokens(base, { grant_type, client_id: clientId });
    expect({ grant_type, status, error: body.error }).toEqual({
      grant_type,
      status: 400,
      error: expect.stringMatching(/^un(?:supported_grant_type|authorized_client)$|^invalid_request$/),
    });
  }
});

test("registrations as real clients send them are taken", async () => {
  const cases: object[] = [
    nativeClient("http://127.0.0.1:33418/", {
      grant_types: ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
    }),
    nativeClient("cursor://anysphere.cursor-mcp/oauth/callback"),
    nativeClient("https://claude.ai/api/mcp/auth_callback", { scope: "claudeai" }),
    nativeClient("http://localhost:6274/oauth/callback", {
      client_uri: "https://github.com/modelcontextprotocol/inspector",
    }),
    {
      redirect_uris: ["http://127.0.0.1:3334/oauth/callback"],
      client_name: "MCP CLI Proxy",
      software_id: "x",
      token_endpoint_auth_method: "client_secret_post",
    },
    nativeClient("https://vscode.dev/redirect", {
      redirect_uris: ["http://127.0.0.1/", "https://vscode.dev/redirect"],
      application_type: "native",
    }),
  ];
  for (const metadata of cases) {
    const reply = await fetch(`${base}/oauth/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(metadata),
    });
    const answer = (await reply.json()) as Record<string, unknown>;
    expect(reply.status, JSON.stringify(answer)).toBe(201);
    expect(answer).toMatchObject({ token_endpoint_auth_method: "none" });
    expect(answer).not.toHaveProperty("client_secret");
  }
});

test.each(["http://evil.test/callback", "javascript:alert(1)", "data:text/html,x"])(
  "a registration that redirects to %s is refused",
  async (uri) => {
    await expect(register(base, nativeClient(uri))).rejects.toThrow("refused with 400");
  },
);

test("a signing key that is revoked takes its tokens with it at once; connections go on with the next one", async () => {
  const connected = await connectByHand(base, "cti", personAt(program.bootstrap.analyst));
  const token = connected.tokens.access_token;
  expect(await statusOf(token)).toBe(200);
  const rings = connectClient(KeyRingService, {
    baseUrl: `${base}/rpc`,
    apiKey: program.bootstrap.admin.api_key,
    httpVersion: "1.1",
  });
  const { kid } = JSON.parse(Buffer.from(token.split(".")[0] as string, "base64url").toString());
  await rings.revokeSigningKey({ ring: "access", kid });
  expect(await statusOf(token)).toBe(401);
  const next = await refresh(connected, connected.tokens.refresh_token);
  expect(await statusOf(next.body.access_token as string)).toBe(200);
  const { keys } = (await (await fetch(`${base}/oauth/jwks`)).json()) as { keys: { kid: string; d?: string }[] };
  expect(keys.map((key) => key.kid)).not.toContain(kid);
  expect(keys.every(({ d }) => d === undefined)).toBe(true);
});
