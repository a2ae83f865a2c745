import { generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SANDBOX_USERS } from "../../../../services/sandbox/cti/seed/users.js";
import { type CtiSandbox, startSandbox } from "../../../../services/sandbox/cti/server.js";
import { type Issuer, startIssuer } from "../../../support/platforms/issuer.js";

let issuer: Issuer;
let sandbox: CtiSandbox;
beforeAll(async () => {
  issuer = await startIssuer();
  const locked = {
    email: "locked@sallyport.example",
    name: "Locked",
    capabilities: ["KNOWLEDGE"],
    clearance: [],
    maxConfidence: 50,
    status: "Inactive" as const,
  };
  sandbox = await startSandbox({ host: "127.0.0.1", port: 0, trust: issuer.url, users: [...SANDBOX_USERS, locked] });
});
afterAll(async () => {
  await sandbox.close();
  await issuer.close();
});

async function post(
  body: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; json: Record<string, unknown> }> {
  const reply = await fetch(`${sandbox.url}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
  });
  return { status: reply.status, json: (await reply.json()) as Record<string, unknown> };
}

async function signedIn(token: string | undefined, scheme = "Bearer"): Promise<string | undefined> {
  const { status, json } = await post(
    '{"query":"{ me { user_email } }"}',
    token === undefined ? {} : { authorization: `${scheme} ${token}` },
  );
  expect(status).toBe(200);
  const { data, errors } = json as {
    data: { me: { user_email: string } } | null;
    errors?: { message: string; extensions: unknown }[];
  };
  if (data !== null) return data.me.user_email;
  expect(errors?.[0]).toMatchObject({
    message: "You must be logged in to do this.",
    extensions: { code: "AUTH_REQUIRED", data: { http_status: 401 } },
    name: "AUTH_REQUIRED",
  });
  return undefined;
}

const ANALYST = "analyst@sallyport.example";
const now = () => Math.floor(Date.now() / 1000);

test.each<[string, unknown, Record<string, unknown>, Record<string, unknown>]>([
  ["as it should be", ANALYST, {}, {}],
  ["for another audience", ANALYST, { aud: "https://elsewhere.example" }, {}],
  ["without sub, jti and iat", ANALYST, { sub: undefined, jti: undefined, iat: undefined }, {}],
  ["without an end", ANALYST, { exp: undefined }, {}],
  ["issued ahead of time", ANALYST, { iat: now() + 5 }, {}],
  ["valid since a moment", ANALYST, { nbf: now() - 5 }, {}],
  ["in capitals", ANALYST.toUpperCase(), {}, {}],
  ["with an accent that folds away", "ánalyst@sallyport.example", {}, {}],
  ["as a list of one", [ANALYST], {}, {}],
  ["without a type", ANALYST, {}, { typ: undefined }],
  ["without a key id", ANALYST, {}, { kid: undefined }],
])("a token %s signs in", async (_, email, claims, header) => {
  expect(await signedIn(await issuer.sign({ email, ...claims }, header))).toBe(ANALYST);
});

test.each<[string, unknown, Record<string, unknown>, Record<string, unknown>]>([
  ["that has expired", ANALYST, { exp: now() - 1 }, {}],
  ["that is not valid yet", ANALYST, { nbf: now() + 5 }, {}],
  ["of another issuer", ANALYST, { iss: "https://elsewhere.example" }, {}],
  ["without an issuer", ANALYST, { iss: undefined }, {}],
  ["without an e-mail", undefined, {}, {}],
  ["of an unknown e-mail", "stranger@sallyport.example", {}, {}],
  ["with a wildcard", "*@sallyport.example", {}, {}],
  ["with a blank behind the e-mail", `${ANALYST} `, {}, {}],
  ["of an inactive account", "locked@sallyport.example", {}, {}],
  ["of an unknown key", ANALYST, {}, { kid: "other" }],
])("a token %s signs nobody in", async (_, email, claims, header) => {
  expect(await signedIn(await issuer.sign({ email, ...claims }, header))).toBeUndefined();
});

test("an issuer with a trailing slash is another issuer", async () => {
  expect(await signedIn(await issuer.sign({ email: ANALYST, iss: `${issuer.url}/` }))).toBeUndefined();
});

test("keys, algorithms and schemes of others sign nobody in", async () => {
  const claims = { iss: issuer.url, email: ANALYST, exp: now() + 60 };
  const { privateKey } = await generateKeyPair("EdDSA", { crv: "Ed25519" });
  const forged = await new SignJWT(claims).setProtectedHeader({ alg: "EdDSA", kid: issuer.kid }).sign(privateKey);
  const shared = await new SignJWT(claims)
    .setProtectedHeader({ alg: "HS256" })
    .sign(new TextEncoder().encode("a".repeat(32)));
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const none = `${part({ alg: "none" })}.${part(claims)}.`;
  for (const token of [forged, shared, none, "garbage", undefined]) expect(await signedIn(token)).toBeUndefined();
  expect(await signedIn(await issuer.sign({ email: ANALYST }), "bearer")).toBeUndefined();
});

test("a platform whose issuer cannot be reached signs nobody in", async () => {
  const gone = await startIssuer();
  const alone = await startSandbox({ host: "127.0.0.1", port: 0, trust: gone.url });
  const token = await gone.sign({ email: ANALYST });
  await gone.close();
  const reply = await fetch(`${alone.url}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: '{"query":"{ about { version } }"}',
  });
  expect(await reply.json()).toMatchObject({ errors: [{ name: "AUTH_REQUIRED" }] });
  await alone.close();
});

test("what is no single GraphQL request over POST is refused outside of GraphQL", async () => {
  const batch = await post('[{"query":"{ me { id } }"},{"query":"{ about { version } }"}]');
  expect(batch).toMatchObject({
    status: 400,
    json: { errors: [{ message: "Operation batching disabled.", name: "BAD_REQUEST" }] },
  });
  expect(await post("{}")).toMatchObject({ status: 400, json: { errors: [{ name: "BAD_REQUEST" }] } });
  expect(await post('{"query":"{ me { id } }"}', { "content-type": "text/plain" })).toMatchObject({ status: 400 });
  const get = await fetch(`${sandbox.url}/graphql?query={me{id}}`);
  expect(get.status).toBe(405);
  expect(await get.json()).toMatchObject({ name: "MethodNotAllowedError" });
});

test("of several operations the named one runs", async () => {
  const authorization = `Bearer ${await issuer.sign({ email: ANALYST })}`;
  const { json } = await post('{"query":"query A { me { id } } query B { about { version } }","operationName":"B"}', {
    authorization,
  });
  expect(json).toEqual({ data: { about: { version: expect.any(String) } } });
});

test("the schema is given to whoever is signed in and to nobody else", async () => {
  const authorization = `Bearer ${await issuer.sign({ email: "nobody@sallyport.example" })}`;
  const given = await fetch(`${sandbox.url}/schema`, { headers: { authorization } });
  expect(await given.json()).toEqual({
    version: expect.any(String),
    schema: expect.stringContaining("directive @auth"),
  });
  const refused = await fetch(`${sandbox.url}/schema`);
  expect([refused.status, await refused.text()]).toEqual([403, "Forbidden"]);
});

test("a request of more than 50 MB is refused", async () => {
  const { status, json } = await post(JSON.stringify({ query: `# ${"x".repeat(51 << 20)}` }));
  expect([status, json]).toEqual([500, { status: "error", error: "request entity too large" }]);
});

test("the same seed gives the same objects", async () => {
  const list =
    '{"query":"{ stixCoreObjects(first: 500) { edges { node { id standard_id entity_type representative { main } } } } }"}';
  const other = await startSandbox({ host: "127.0.0.1", port: 0, trust: issuer.url });
  const authorization = `Bearer ${await issuer.sign({ email: "admin@sallyport.example" })}`;
  const first = await post(list, { authorization });
  const reply = await fetch(`${other.url}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization },
    body: list,
  });
  expect(await reply.json()).toEqual(first.json);
  await other.close();
});
