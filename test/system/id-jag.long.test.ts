import { createHmac, randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ConnectionService } from "#proto/auth/v1/connection_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { connectClient } from "../../clients/node/connect.js";
import { openAuthStore } from "../../services/auth/store.js";
import { SERVERS } from "../../services/shared/platforms.js";
import { openEmbeddedStore } from "../../services/shared/store/embedded/embedded.js";
import { post } from "../support/mcp.js";
import { askForTokens, register } from "../support/oauth/by-hand.js";
import { claimsOf } from "../support/oauth/client-state.js";
import { type EnterpriseIdp, startEnterpriseIdp } from "../support/oauth/enterprise-idp.js";
import { type Program, startProgram } from "../support/program.js";

// Enterprise-managed authorization: the company's identity provider says who may
// use a client with which server, and no page is shown. What the texts ask,
// clause by clause, is in id-jag-by-text.long.test.ts.

const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";
let idp: EnterpriseIdp;
let second: EnterpriseIdp;
let stranger: EnterpriseIdp;
let down: EnterpriseIdp;
let program: Program;
let base: string;
let clientId: string;

beforeAll(async () => {
  [idp, second, stranger, down] = await Promise.all([
    startEnterpriseIdp({ alg: "RS256" }),
    startEnterpriseIdp({ alg: "ES256" }),
    startEnterpriseIdp({ alg: "RS256" }),
    startEnterpriseIdp({ alg: "RS256" }),
  ]);
  await down.close();
  program = await startProgram({
    env: { ID_JAG_ISSUERS: `${idp.issuer} RS256, ${second.issuer} ES256, ${down.issuer} RS256` },
  });
  base = program.baseUrl;
  ({ clientId } = await register(base));
});
afterAll(async () => {
  await program?.stop();
  for (const one of [idp, second, stranger]) await one?.close();
});

/** Further members replace claims, and `typ` that of the header. */
interface Asked {
  readonly subject?: string | undefined;
  readonly emailVerified?: unknown;
  readonly clientId?: string | undefined;
  readonly audience?: string | readonly string[];
  readonly typ?: string;
  readonly [claim: string]: unknown;
}
const assertion = (more: Asked = {}, issuer = idp): Promise<string> => {
  const {
    subject,
    emailVerified,
    clientId: client,
    audience,
    typ,
    ...claims
  } = {
    ...{ subject: "analyst-at-the-company", emailVerified: true, email: program.bootstrap.analyst.email },
    ...{ clientId, audience: base, resource: `${base}/mcp/cti`, typ: "oauth-id-jag+jwt" },
    ...more,
  };
  const changed = { sub: subject, email_verified: emailVerified, client_id: client, aud: audience, ...claims };
  return issuer.idJag({ sub: "" }, { audience: base, clientId }, changed, { typ });
};
const exchange = (given: string, more: Record<string, string> = {}) =>
  askForTokens(base, { grant_type: JWT_BEARER, client_id: clientId, assertion: given, ...more });
const statusOf = async (token: string | undefined, server = "cti") =>
  (await post(`${base}/mcp/${server}`, token ?? "", "tools/list")).status;
const users = () =>
  connectClient(UserService, { baseUrl: `${base}/rpc`, apiKey: program.bootstrap.admin.api_key, httpVersion: "1.1" });
const newUser = async (name: string) => {
  const { user } = await users().createUser({ email: `${name}@sallyport.example`, name });
  return { id: user?.id as string, email: `${name}@sallyport.example` };
};

test("the metadata says that assertions are taken", async () => {
  const reply = await fetch(`${base}/.well-known/oauth-authorization-server`);
  expect(await reply.json()).toMatchObject({
    grant_types_supported: expect.arrayContaining([JWT_BEARER]),
    authorization_grant_profiles_supported: ["urn:ietf:params:oauth:grant-profile:id-jag"],
  });
});

test.each(SERVERS)("an assertion for %s gives a token that is good there and nowhere else", async (server) => {
  const { status, body } = await exchange(await assertion({ resource: `${base}/mcp/${server}` }));
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body).not.toHaveProperty("refresh_token");
  expect(body).toMatchObject({ token_type: "Bearer", scope: `${server}:read ${server}:write` });
  expect(claimsOf(body.access_token as string)).toMatchObject({
    iss: base,
    aud: `${base}/mcp/${server}`,
    client_id: clientId,
  });
  for (const other of SERVERS)
    expect(await statusOf(body.access_token, other), other).toBe(other === server ? 200 : 401);
});

test("both algorithms of the list are taken, each of its own issuer", async () => {
  const person = await newUser("two-providers");
  expect((await exchange(await assertion({ email: person.email, subject: "a" }))).status).toBe(200);
  expect((await exchange(await assertion({ email: person.email, subject: "b" }, second))).status).toBe(200);
});

test("of six exchanges of one assertion at once one succeeds, and it is used up for ever", async () => {
  const once = await assertion();
  const replies = await Promise.all(Array.from({ length: 6 }, () => exchange(once)));
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
  expect((await exchange(once)).body).toMatchObject({
    error: "invalid_grant",
    error_description: expect.stringContaining("used before"),
  });
});

test("the scopes are those that assertion and request both name", async () => {
  const { body } = await exchange(await assertion({ scope: "cti:read profile" }));
  expect(body.scope).toBe("cti:read");
  expect((await exchange(await assertion(), { scope: "cti:read" })).body.scope).toBe("cti:read");
  expect((await exchange(await assertion({ scope: "cti:read" }), { scope: "cti:write" })).body.error).toBe(
    "invalid_scope",
  );
});

test("a person is known by issuer and subject; the address counts once", async () => {
  const person = await newUser("known");
  const subject = "known-at-the-company";
  expect((await exchange(await assertion({ subject, email: person.email }))).status).toBe(200);
  // The provider changes the address, or leaves it out: the same person.
  const { body } = await exchange(await assertion({ subject, email: program.bootstrap.admin.email }));
  expect(claimsOf(body.access_token as string).sub).toBe(person.id);
  expect((await exchange(await assertion({ subject, email: undefined, emailVerified: undefined }))).status).toBe(200);
  // Somebody else who was given the address later is somebody else.
  expect((await exchange(await assertion({ subject: "the-next", email: person.email }))).body).toMatchObject({
    error: "invalid_grant",
    error_description: expect.stringContaining("another identity"),
  });
});

test("what a person's administrator or the person ends is ended at once", async () => {
  const person = await newUser("ended");
  const subject = "ended-at-the-company";
  const first = await exchange(await assertion({ subject, email: person.email }));
  const token = first.body.access_token as string;
  expect(await statusOf(token)).toBe(200);
  const admin = { baseUrl: `${base}/rpc`, apiKey: program.bootstrap.admin.api_key, httpVersion: "1.1" } as const;
  await connectClient(ConnectionService, admin).endConnection({ id: claimsOf(token).gid as string });
  expect(await statusOf(token)).toBe(401);
  const again = await exchange(await assertion({ subject }));
  expect(await statusOf(again.body.access_token)).toBe(200);
  await users().updateUser({ id: person.id, disabled: true });
  expect(await statusOf(again.body.access_token)).toBe(401);
  expect((await exchange(await assertion({ subject }))).body.error).toBe("invalid_grant");
});

const part = (text: string, at: number) =>
  JSON.parse(Buffer.from(text.split(".")[at] as string, "base64url").toString());
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
const now = () => Math.floor(Date.now() / 1000);

const FORGERIES: Record<string, () => Promise<string> | string> = {
  "an issuer that is not listed": () => assertion({}, stranger),
  "a listed issuer's name on a stranger's signature": () => assertion({ iss: idp.issuer }, stranger),
  "another listed issuer's key": () => assertion({ iss: idp.issuer }, second),
  "no algorithm": async () => {
    const good = await assertion();
    return `${encode({ ...part(good, 0), alg: "none" })}.${good.split(".")[1]}.`;
  },
  HS256: async () => {
    const good = await assertion();
    const text = `${encode({ ...part(good, 0), alg: "HS256" })}.${good.split(".")[1]}`;
    return `${text}.${createHmac("sha256", "secret").update(text).digest("base64url")}`;
  },
  "changed claims": async () => {
    const good = await assertion();
    const [header, , signature] = good.split(".");
    return `${header}.${encode({ ...part(good, 1), sub: "somebody-else" })}.${signature}`;
  },
  "typ JWT": () => assertion({ typ: "JWT" }),
  "the typ of an access token": () => assertion({ typ: "at+jwt" }),
  "another audience": () => assertion({ audience: "https://other.example" }),
  "the endpoint as audience": () => assertion({ audience: `${base}/mcp/cti` }),
  "the token endpoint as audience": () => assertion({ audience: `${base}/oauth/token` }),
  "two audiences": () => assertion({ audience: [base, "https://other.example"] }),
  "another client": async () => assertion({ clientId: (await register(base)).clientId }),
  "no client": () => assertion({ clientId: undefined }),
  "no resource": () => assertion({ resource: undefined }),
  "another service's resource": () => assertion({ resource: "https://other.example/mcp/cti" }),
  "the whole service as resource": () => assertion({ resource: base }),
  "two resources": () => assertion({ resource: [`${base}/mcp/cti`, `${base}/mcp/grc`] }),
  "an end that is over": () => assertion({ exp: now() - 60, iat: now() - 120 }),
  "a life of a day": () => assertion({ exp: now() + 86_400 }),
  "an issue of yesterday": () => assertion({ iat: now() - 86_400 }),
  "no end": () => assertion({ exp: undefined }),
  "no jti": () => assertion({ jti: undefined }),
  "an empty jti": () => assertion({ jti: "" }),
  "no subject": () => assertion({ subject: undefined }),
  "an address that the provider has not verified": () => assertion({ subject: randomUUID(), emailVerified: false }),
  "an address that the provider says nothing of": () => assertion({ subject: randomUUID(), emailVerified: undefined }),
  "verified in words": () => assertion({ subject: randomUUID(), emailVerified: "true" }),
  "an address of nobody": () => assertion({ subject: randomUUID(), email: "nobody@sallyport.example" }),
  "no address, and no link": () => assertion({ subject: randomUUID(), email: undefined }),
  "a service account's name": () => assertion({ subject: randomUUID(), email: "service:sallyport" }),
  "no JWT": () => "not.a.jwt",
  nothing: () => "",
  "too long a text": () => `${"a".repeat(20_000)}`,
};

test.each(Object.keys(FORGERIES))("%s is refused", async (kind) => {
  const { status, body } = await exchange((await FORGERIES[kind]?.()) as string);
  expect({ status, error: body.error }).toEqual({
    status: 400,
    error: expect.stringMatching(/^invalid_(?:grant|request|target)$/),
  });
  expect(body).not.toHaveProperty("access_token");
});

test("an assertion that names another resource than the request is refused", async () => {
  expect((await exchange(await assertion(), { resource: `${base}/mcp/grc` })).body.error).toBe("invalid_target");
});

test("a service that takes no client documents says so, and clients register", async () => {
  const plain = await startProgram({ env: { CLIENT_DOCUMENTS: "off" } });
  try {
    const document = await (await fetch(`${plain.baseUrl}/.well-known/oauth-authorization-server`)).json();
    expect(document).not.toHaveProperty("client_id_metadata_document_supported");
    expect(document).toHaveProperty("registration_endpoint");
  } finally {
    await plain.stop();
  }
});

test("a client whose assertion was exchanged is kept, and one that did nothing is forgotten after a day", async () => {
  const own = await startProgram({ env: { ID_JAG_ISSUERS: `${idp.issuer} RS256` }, keepData: true });
  try {
    const [used, unused] = [await register(own.baseUrl), await register(own.baseUrl)];
    const given = await assertion({
      ...{ audience: own.baseUrl, resource: `${own.baseUrl}/mcp/cti`, clientId: used.clientId },
    });
    const form = { grant_type: JWT_BEARER, client_id: used.clientId, assertion: given };
    expect((await askForTokens(own.baseUrl, form)).status).toBe(200);
    await own.stop();
    const store = await openEmbeddedStore(own.dataDir);
    try {
      const { oauth } = await openAuthStore(store);
      const lives = async ({ clientId: id }: { clientId: string }) => {
        const record = (await oauth.find({ model: "Client" }).toArray()).find(({ payload }) => payload.includes(id));
        return ((record?.expires_at?.getTime() ?? 0) - Date.now()) / 86_400_000;
      };
      expect(await lives(used)).toBeGreaterThan(300);
      expect(await lives(unused)).toBeLessThan(1.1);
    } finally {
      await store.close();
    }
  } finally {
    await own.stop();
    own.forget();
  }
});

test("a service without listed issuers takes none", async () => {
  const plain = await startProgram();
  try {
    const client = await register(plain.baseUrl);
    const given = await assertion({
      audience: plain.baseUrl,
      resource: `${plain.baseUrl}/mcp/cti`,
      clientId: client.clientId,
    });
    const { status, body } = await askForTokens(plain.baseUrl, {
      ...{ grant_type: JWT_BEARER, client_id: client.clientId, assertion: given },
    });
    expect([status, body.error]).toEqual([400, "unsupported_grant_type"]);
  } finally {
    await plain.stop();
  }
});

test("a provider that does not answer is not the fault of the assertion", async () => {
  const { status, body } = await exchange(await assertion({}, down));
  expect([status, body.error]).toEqual([503, "temporarily_unavailable"]);
  expect(body.error_description).toMatch(/^the keys of .* cannot be read: .*; try again$/);
});
