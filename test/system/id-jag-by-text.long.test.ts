import {
  CrossAppAccessProvider,
  discoverAndRequestJwtAuthGrant,
  exchangeJwtAuthGrant,
  Client as McpClient,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { post } from "../support/mcp.js";
import { askForTokens, register } from "../support/oauth/by-hand.js";
import { claimsOf } from "../support/oauth/client-state.js";
import {
  type Access,
  type Employee,
  type EnterpriseIdp,
  type IdpOptions,
  startEnterpriseIdp,
} from "../support/oauth/enterprise-idp.js";
import { SigningKeys } from "../support/oauth/signing-keys.js";
import { type Program, startProgram } from "../support/program.js";

// What the texts ask of the authorization server of an MCP server, clause by
// clause: draft-ietf-oauth-identity-assertion-authz-grant-03 ("draft"), the MCP
// extension Enterprise-Managed Authorization ("extension"), RFC 7521 and 7523,
// RFC 7515 and 7519, RFC 8707. The identity provider knows only the texts too.

const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const KINDS = {
  RS256: {},
  // alg and use of a key are optional (RFC 7517 section 4).
  PS256: { alg: "PS256", path: "/oauth2/default", without: ["alg", "use"] },
  ES256: { alg: "ES256", path: "/realms/acme" },
  EdDSA: { alg: "EdDSA", path: "/" },
} as const satisfies Record<string, IdpOptions>;

let idps: Record<keyof typeof KINDS, EnterpriseIdp>;
let idp: EnterpriseIdp;
/** It issues for several companies. */
let shared: EnterpriseIdp;
let program: Program;
let base: string;
let clientId: string;
let employee: Employee;

beforeAll(async () => {
  const made = Object.entries(KINDS).map(async ([name, options]) => [name, await startEnterpriseIdp(options)] as const);
  idps = Object.fromEntries(await Promise.all(made)) as typeof idps;
  idp = idps.RS256;
  shared = await startEnterpriseIdp();
  const listed = Object.entries(idps).map(([alg, { issuer }]) => `${issuer} ${alg}`);
  listed.push(`${shared.issuer} RS256 tenant=acme`);
  program = await startProgram({ env: { ID_JAG_ISSUERS: listed.join(", ") } });
  base = program.baseUrl;
  ({ clientId } = await register(base));
  employee = { sub: "00u1a2b3c4", email: program.bootstrap.analyst.email, emailVerified: true };
});
afterAll(async () => {
  await program?.stop();
  for (const one of [shared, ...Object.values(idps ?? {})]) await one?.close();
});

const access = (more: Partial<Access> = {}): Access => ({
  ...{ audience: base, clientId, resource: `${base}/mcp/cti` },
  ...more,
});
const now = () => Math.floor(Date.now() / 1000);
const exchange = (assertion: string, more: Record<string, string> = {}) =>
  askForTokens(base, { grant_type: JWT_BEARER, client_id: clientId, assertion, ...more });
const statusOf = async (token: string | undefined, server = "cti") =>
  (await post(`${base}/mcp/${server}`, token ?? "", "tools/list")).status;
type Change = () => { claims?: object; header?: object; access?: Partial<Access>; form?: Record<string, string> };
const tried = async (change: Change) => {
  const { claims = {}, header = {}, access: more = {}, form = {} } = change();
  return exchange(await idp.idJag(employee, access(more), claims, header), form);
};

describe("the whole flow with the official client", () => {
  const idpClient = { clientId: "mcp-client-at-the-idp", clientSecret: "a secret of the client + idp" };
  const reach = (more: object = {}) =>
    idp.clients.set(idpClient.clientId, {
      secret: idpClient.clientSecret,
      reaches: { [base]: { clientId, resources: [`${base}/mcp/cti`, `${base}/mcp/core`], ...more } },
    });

  test("its provider signs in with an ID token and calls a tool", async () => {
    reach();
    const idToken = await idp.signIn(employee, idpClient.clientId);
    const authProvider = new CrossAppAccessProvider({
      assertion: async ({ authorizationServerUrl: audience, resourceUrl: resource, scope, fetchFn }) => {
        const asked = { idpUrl: idp.issuer, idToken, audience, resource, ...idpClient, fetchFn };
        return (await discoverAndRequestJwtAuthGrant(scope === undefined ? asked : { ...asked, scope })).jwtAuthGrant;
      },
      clientId,
      clientSecret: "not used: the server takes public clients and signatures",
      expectedIssuer: base,
    });
    const client = new McpClient({ name: "by-text", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${base}/mcp/cti`), { authProvider }));
    try {
      const said = await client.callTool({ name: "whoami", arguments: {} });
      expect(JSON.stringify(said)).toContain(program.bootstrap.analyst.email);
    } finally {
      await client.close();
    }
  });

  test("its functions exchange what the provider's policy leaves", async () => {
    reach({ scopes: ["cti:read"] });
    const grant = await discoverAndRequestJwtAuthGrant({
      ...{ idpUrl: idp.issuer, idToken: await idp.signIn(employee, idpClient.clientId), ...idpClient },
      ...{ audience: base, resource: `${base}/mcp/cti`, scope: "cti:read cti:write" },
    });
    expect(grant.scope).toBe("cti:read");
    const tokens = await exchangeJwtAuthGrant({
      ...{ tokenEndpoint: `${base}/oauth/token`, jwtAuthGrant: grant.jwtAuthGrant, clientId, authMethod: "none" },
    });
    expect(tokens).toMatchObject({ token_type: "Bearer", scope: "cti:read" });
    expect(await statusOf(tokens.access_token)).toBe(200);
  });

  test("what policy forbids, and an ID token of another client, get no assertion", async () => {
    reach();
    idp.clients.set("other", { secret: "s", reaches: {} });
    const asked = { idpUrl: idp.issuer, audience: base, ...idpClient };
    const idToken = await idp.signIn(employee, idpClient.clientId);
    await expect(discoverAndRequestJwtAuthGrant({ ...asked, idToken, resource: `${base}/mcp/grc` })).rejects.toThrow(
      /invalid_target/,
    );
    const foreign = await idp.signIn(employee, "other");
    const resource = `${base}/mcp/cti`;
    await expect(discoverAndRequestJwtAuthGrant({ ...asked, idToken: foreign, resource })).rejects.toThrow(
      /invalid_grant/,
    );
  });
});

describe("what must be taken", () => {
  test.each(Object.keys(KINDS) as (keyof typeof KINDS)[])("%s, of an issuer with its own kind of URL", async (alg) => {
    const { status, body } = await exchange(await idps[alg].idJag(employee, access()));
    expect(status, JSON.stringify(body)).toBe(200);
  });

  const TAKEN: Record<string, Change> = {
    "aud as an array of one (draft 4.4.1)": () => ({ claims: { aud: [base] } }),
    "a resource as an array of one (draft 3.1)": () => ({ access: { resource: [`${base}/mcp/cti`] } }),
    "the same resource in the request (RFC 8707 section 2.2)": () => ({ form: { resource: `${base}/mcp/cti` } }),
    "several resources, of which the request chooses one (draft 4.4.1, RFC 8707 section 2.2)": () => ({
      access: { resource: [`${base}/mcp/cti`, `${base}/mcp/grc`] },
      form: { resource: `${base}/mcp/cti` },
    }),
    "several resources, of which one is here (draft 4.4.1: a subset may be granted)": () => ({
      access: { resource: ["https://api.example.com/", `${base}/mcp/cti`] },
    }),
    "claims that nobody here knows (RFC 7523 section 3, 9)": () => ({
      claims: { groups: ["a", "b"], azp: "x", nonce: "n", sid: "s", "urn:example:x": { y: [1] }, aud_sub: "42" },
    }),
    "a tenant of this server (draft 3.1)": () => ({ claims: { aud_tenant: "acme" } }),
    "an actor (draft 3.1: no rules yet)": () => ({ claims: { act: { sub: "agent", iss: "https://agents.example" } } }),
    "no authentication context (draft 3.1)": () => ({
      claims: { auth_time: undefined, acr: undefined, amr: undefined },
    }),
    "a scope that is not here beside one that is (draft 4.4.1)": () => ({ access: { scope: "chat.read cti:read" } }),
    "typ in capitals (RFC 7515 section 4.1.9)": () => ({ header: { typ: "OAuth-ID-JAG+JWT" } }),
    "typ as a whole media type (RFC 7515 section 4.1.9)": () => ({
      header: { typ: "application/oauth-id-jag+jwt" },
    }),
    "a time with a fraction (RFC 7519 section 2)": () => ({
      claims: { iat: Date.now() / 1000, exp: Date.now() / 1000 + 299.5 },
    }),
    "a clock that is half a minute ahead (RFC 7521 section 5.2)": () => ({
      claims: { iat: now() + 30, nbf: now() + 30, exp: now() + 330 },
    }),
    "an end ten seconds ago (RFC 7521 section 5.2)": () => ({ claims: { iat: now() - 300, exp: now() - 10 } }),
    "the times of the draft's example: a thousand seconds": () => ({ claims: { exp: now() + 1000 } }),
    "the life of the extension's example: an hour": () => ({ claims: { exp: now() + 3600 } }),
    "not before now (RFC 7523 section 3, 5)": () => ({ claims: { nbf: now() } }),
    "a long and unusual jti": () => ({ claims: { jti: `ID.${"é/+ ".repeat(40)}${now()}` } }),
    "no kid, where one key is published (RFC 7515 section 4.1.4)": () => ({ header: { kid: undefined } }),
  };
  test.each(Object.keys(TAKEN))("%s", async (kind) => {
    const { status, body } = await tried(TAKEN[kind] as Change);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(claimsOf(body.access_token as string)).toMatchObject({ aud: `${base}/mcp/cti`, client_id: clientId });
    expect(await statusOf(body.access_token)).toBe(200);
  });

  test("one jti of two issuers: it is unique for its issuer (RFC 7519 section 4.1.7)", async () => {
    const jti = crypto.randomUUID();
    const other = await idps.ES256.idJag(employee, access(), { jti });
    expect((await exchange(await idp.idJag(employee, access(), { jti }))).status).toBe(200);
    expect((await exchange(other)).status).toBe(200);
  });
});

describe("what must be refused with invalid_grant", () => {
  const REFUSED: Record<string, Change> = {
    "another typ (draft 4.4.1)": () => ({ header: { typ: "JWT" } }),
    "no typ (draft 4.4.1)": () => ({ header: { typ: undefined } }),
    "a critical header that nobody here knows (RFC 7515 section 4.1.11)": () => ({
      header: { crit: ["urn:example:crit"], "urn:example:crit": "x" },
    }),
    "no iss (RFC 7523 section 3, 1)": () => ({ claims: { iss: undefined } }),
    "the issuer with a slash more (RFC 7523 section 3, 1)": () => ({ claims: { iss: `${idp.issuer}/` } }),
    "no sub (RFC 7523 section 3, 2)": () => ({ claims: { sub: undefined } }),
    "an empty sub": () => ({ claims: { sub: "" } }),
    "a sub that is a number": () => ({ claims: { sub: 7 } }),
    "no aud (RFC 7523 section 3, 3)": () => ({ claims: { aud: undefined } }),
    "another aud (draft 4.4.1)": () => ({ claims: { aud: "https://other.example" } }),
    "the issuer with a slash more as aud (RFC 8414 section 2: compared letter for letter)": () => ({
      claims: { aud: `${base}/` },
    }),
    "an empty array as aud (draft 4.4.1: exactly one)": () => ({ claims: { aud: [] } }),
    "two in aud, one of them this server (draft 4.4.1: exactly one)": () => ({
      claims: { aud: [base, "https://other.example"] },
    }),
    "this server twice in aud (draft 4.4.1: exactly one)": () => ({ claims: { aud: [base, base] } }),
    "an array in the array of aud": () => ({ claims: { aud: [[base]] } }),
    "no client_id (draft 3.1)": () => ({ claims: { client_id: undefined } }),
    "another client_id (draft 4.4.1)": () => ({ claims: { client_id: "somebody-else" } }),
    "the client_id in an array": () => ({ claims: { client_id: [clientId] } }),
    "no jti (draft 3.1)": () => ({ claims: { jti: undefined } }),
    "a jti that is a number": () => ({ claims: { jti: 7 } }),
    "no exp (RFC 7523 section 3, 4)": () => ({ claims: { exp: undefined } }),
    "an end that is over (RFC 7523 section 3, 4)": () => ({ claims: { iat: now() - 600, exp: now() - 300 } }),
    "an exp in words": () => ({ claims: { exp: String(now() + 300) } }),
    "an exp that is null": () => ({ claims: { exp: null } }),
    "no iat (draft 3.1)": () => ({ claims: { iat: undefined } }),
    "an iat in words": () => ({ claims: { iat: String(now()) } }),
    "an issue ten minutes ahead (RFC 7521 section 5.2)": () => ({ claims: { iat: now() + 600, exp: now() + 900 } }),
    "not before in ten minutes (RFC 7523 section 3, 5)": () => ({ claims: { nbf: now() + 600 } }),
    "not before, in words": () => ({ claims: { nbf: String(now()) } }),
    "an end in a year (RFC 7523 section 3, 4)": () => ({ claims: { exp: now() + 31_536_000 } }),
    "a key that the client does not prove (draft 9.7.1: cnf)": () => ({
      claims: { cnf: { jkt: "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I" } },
    }),
    "details of authorization that nobody here knows (RFC 9396 section 5)": () => ({
      claims: { authorization_details: [{ type: "chat_read", actions: ["read"] }] },
    }),
    "details of authorization that are no array (draft 4.4.1)": () => ({ claims: { authorization_details: "x" } }),
    "a scope that is no string (draft 3.1)": () => ({ claims: { scope: ["cti:read"] } }),
    "an e-mail address that is no string": () => ({ claims: { sub: crypto.randomUUID(), email: [employee.email] } }),
  };
  test.each(Object.keys(REFUSED))("%s", async (kind) => {
    const { status, body } = await tried(REFUSED[kind] as Change);
    expect(body).not.toHaveProperty("access_token");
    expect([status, body.error], JSON.stringify(body)).toEqual([
      400,
      expect.stringMatching(kind.startsWith("details") ? /^invalid_(grant|authorization_details)$/ : /^invalid_grant$/),
    ]);
  });

  test("an assertion a second time (RFC 7523 section 3, 7)", async () => {
    const assertion = await idp.idJag(employee, access());
    expect((await exchange(assertion)).status).toBe(200);
    expect((await exchange(assertion)).body.error).toBe("invalid_grant");
  });

  test("an ID token (draft 3: it is for its client alone)", async () => {
    expect((await exchange(await idp.signIn(employee, clientId))).body.error).toBe("invalid_grant");
  });

  test("one algorithm in the name of another's issuer", async () => {
    const forged = await idps.ES256.idJag(employee, access(), { iss: idp.issuer }, { kid: idp.keys.current.kid });
    expect((await exchange(forged)).body.error).toBe("invalid_grant");
  });
});

describe("what must be refused otherwise", () => {
  test("no assertion, and two (RFC 6749 section 3.2)", async () => {
    expect((await askForTokens(base, { grant_type: JWT_BEARER, client_id: clientId })).body.error).toBe(
      "invalid_request",
    );
    const [one, two] = [await idp.idJag(employee, access()), await idp.idJag(employee, access())];
    const form = new URLSearchParams({ grant_type: JWT_BEARER, client_id: clientId, assertion: one });
    form.append("assertion", two);
    const reply = await fetch(`${base}/oauth/token`, { method: "POST", body: form });
    expect([reply.status, await reply.json()]).toEqual([400, expect.objectContaining({ error: "invalid_request" })]);
  });

  test.each(["https://other.example/mcp", 7])("resource %s (RFC 8707 section 2: invalid_target)", async (resource) => {
    const { status, body } = await tried(() => ({ claims: { resource } }));
    expect([status, body.error]).toEqual([400, "invalid_target"]);
  });

  test("a resource that the assertion does not name (RFC 8707 section 2.2)", async () => {
    const { body } = await tried(() => ({ form: { resource: `${base}/mcp/grc` } }));
    expect(body.error).toBe("invalid_target");
  });

  test("several resources here, and none chosen: a token is for one (RFC 8707 section 2.2)", async () => {
    const { body } = await tried(() => ({ access: { resource: [`${base}/mcp/cti`, `${base}/mcp/grc`] } }));
    expect(body.error).toBe("invalid_target");
  });

  test("a scope that the assertion does not have (RFC 7521 section 4.1)", async () => {
    const { body } = await tried(() => ({ access: { scope: "cti:read" }, form: { scope: "cti:write" } }));
    expect(body.error).toBe("invalid_scope");
  });

  test("an assertion with nothing but scopes that are not here gives no right", async () => {
    const { body } = await tried(() => ({ access: { scope: "chat.read" } }));
    expect(body.error).toBe("invalid_scope");
  });

  test("a client that nobody knows (RFC 6749 section 5.2: invalid_client)", async () => {
    const assertion = await idp.idJag(employee, access({ clientId: "nobody" }));
    const { status, body } = await exchange(assertion, { client_id: "nobody" });
    expect([status, body.error]).toEqual([401, "invalid_client"]);
  });

  test("an assertion or ID token in place of an access token (draft 3)", async () => {
    expect(await statusOf(await idp.idJag(employee, access()))).toBe(401);
    expect(await statusOf(await idp.signIn(employee, clientId))).toBe(401);
  });

  test("a tenant that is not listed, of an issuer for several companies (draft 6.1 and 6.3)", async () => {
    const of = (tenant?: string) => shared.idJag(tenant === undefined ? employee : { ...employee, tenant }, access());
    expect((await exchange(await of("acme"))).status).toBe(200);
    for (const tenant of ["fabrikam", undefined]) {
      expect((await exchange(await of(tenant))).body.error, tenant).toBe("invalid_grant");
    }
    expect((await tried(() => ({ claims: { tenant: "acme" } }))).body.error).toBe("invalid_grant");
  });

  test("what is refused for the request's sake may be presented again", async () => {
    const assertion = await idp.idJag(employee, access({ scope: "cti:read" }));
    expect((await exchange(assertion, { resource: `${base}/mcp/grc` })).body.error).toBe("invalid_target");
    expect((await exchange(assertion, { scope: "cti:write" })).body.error).toBe("invalid_scope");
    expect((await exchange(assertion)).status).toBe(200);
  });
});

describe("what is answered", () => {
  test("a bearer token, its life, its scopes and its resource, not to be stored, and no refresh token (draft 4.4)", async () => {
    const form = { grant_type: JWT_BEARER, client_id: clientId, assertion: await idp.idJag(employee, access()) };
    const reply = await fetch(`${base}/oauth/token`, { method: "POST", body: new URLSearchParams(form) });
    expect(reply.headers.get("cache-control")).toBe("no-store");
    const body = (await reply.json()) as object;
    expect(body).toMatchObject({
      ...{ token_type: "Bearer", scope: "cti:read cti:write", expires_in: expect.any(Number) },
      resource: `${base}/mcp/cti`,
    });
    expect(body).not.toHaveProperty("refresh_token");
  });

  test("metadata with grant and profile, and no word of whom it trusts (draft 7.2, 9.4)", async () => {
    const text = await (await fetch(`${base}/.well-known/oauth-authorization-server`)).text();
    expect(JSON.parse(text)).toMatchObject({
      grant_types_supported: expect.arrayContaining([JWT_BEARER]),
      authorization_grant_profiles_supported: ["urn:ietf:params:oauth:grant-profile:id-jag"],
    });
    for (const { issuer } of [shared, ...Object.values(idps)]) expect(text).not.toContain(new URL(issuer).host);
  });

  test("errors do not say what the assertion holds", async () => {
    const { body } = await tried(() => ({ claims: { aud: "https://other.example", email: "secret@acme.example" } }));
    expect(JSON.stringify(body)).not.toContain("secret@acme.example");
  });
});

test("made-up key ids do not have the keys fetched each time", async () => {
  const one = idps.EdDSA;
  const before = one.keysFetched();
  for (let at = 0; at < 10; at++) {
    const forged = await one.idJag(employee, access(), {}, { kid: `made up ${at}` });
    expect((await exchange(forged)).body.error).toBe("invalid_grant");
  }
  expect(one.keysFetched() - before).toBeLessThan(3);
});

describe("clients", () => {
  const registered = async (metadata: object) => {
    const reply = await fetch(`${base}/oauth/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(metadata),
    });
    return { status: reply.status, body: (await reply.json()) as { client_id: string; grant_types?: string[] } };
  };

  test("one that only presents assertions registers without a redirect (extension 5, RFC 7591 section 2)", async () => {
    const { status, body } = await registered({
      ...{ client_name: "cross-app-access-client", redirect_uris: [], response_types: [] },
      ...{ grant_types: [JWT_BEARER], token_endpoint_auth_method: "client_secret_basic" },
    });
    expect([status, body.grant_types]).toEqual([201, [JWT_BEARER]]);
    const form = { client_id: body.client_id };
    const assertion = await idp.idJag(employee, access({ clientId: body.client_id }));
    expect((await exchange(assertion, form)).status).toBe(200);
    // It gets nothing else: neither a page nor a redirect.
    const query = {
      response_type: "code",
      ...form,
      redirect_uri: "https://evil.example/",
      resource: `${base}/mcp/cti`,
    };
    const page = await fetch(`${base}/oauth/authorize?${new URLSearchParams(query)}`, { redirect: "manual" });
    expect([page.status, page.headers.get("location")]).toEqual([400, null]);
  });

  test("one that asks for codes too needs a redirect", async () => {
    const { status } = await registered({ redirect_uris: [], grant_types: [JWT_BEARER, "authorization_code"] });
    expect(status).toBe(400);
  });

  test("one that signs is taken with its signature and refused with another's (draft 4.4.1)", async () => {
    const [own, other] = await Promise.all([SigningKeys.create("ES256"), SigningKeys.create("ES256")]);
    const { body } = await registered({
      ...{ redirect_uris: [], grant_types: [JWT_BEARER], jwks: own.published() },
      ...{ token_endpoint_auth_method: "private_key_jwt", token_endpoint_auth_signing_alg: "ES256" },
    });
    const id = body.client_id;
    const signed = async (keys: SigningKeys) => ({
      client_id: id,
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion: await keys.sign(
        { iss: id, sub: id, aud: base, jti: crypto.randomUUID(), iat: now(), exp: now() + 60 },
        {},
      ),
    });
    const assertion = () => idp.idJag(employee, access({ clientId: id }));
    const refused = await exchange(await assertion(), await signed(other));
    expect([refused.status, refused.body.error]).toEqual([401, "invalid_client"]);
    expect((await exchange(await assertion(), { client_id: id })).body.error).toBe("invalid_client");
    const taken = await exchange(await assertion(), await signed(own));
    expect(taken.status, JSON.stringify(taken.body)).toBe(200);
    // Another client's assertion does not become its own.
    expect((await exchange(await idp.idJag(employee, access()), await signed(own))).body.error).toBe("invalid_grant");
  });
});
