import { createHmac, generateKeyPairSync, type KeyObject, randomUUID, sign as signBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { importJWK, type JWK } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openKeyRing } from "../../services/auth/key-ring.js";
import { openAuthStore, type RingName } from "../../services/auth/store.js";
import { createSeal, parseSealKeys } from "../../services/shared/secrets/seal.js";
import { openEmbeddedStore } from "../../services/shared/store/embedded/embedded.js";
import { post } from "../support/mcp.js";
import { allow, connectByHand, register } from "../support/oauth/by-hand.js";
import { claimsOf } from "../support/oauth/client-state.js";
import { personAt, settleIn } from "../support/oauth/person.js";
import { freePorts, type Program, startProgram } from "../support/program.js";

// What is no access token of this service for this endpoint gets 401, whoever
// signed it: the keys of the rings are read from the service's own store, so
// that what is wrong with a token is the one thing that its name says.

type Claims = Record<string, unknown>;
type Ring = readonly JWK[];

let program: Program;
let other: Program;
let good: string;
let others: string;
let codeOfGood: string;
let refreshToken: string;
let adminsGrant: string;
let keys: Record<RingName, Ring>;

beforeAll(async () => {
  const [port = 0] = await freePorts(1);
  const env = { PORT: String(port), BAD_TOKENS_PER_MINUTE: "10000" };
  const first = await startProgram({ env, keepData: true });
  other = await startProgram();
  for (const one of [first, other]) {
    for (const account of [one.bootstrap.admin, one.bootstrap.analyst]) await settleIn(one, account);
  }
  const person = personAt(first.bootstrap.analyst);
  const connected = await connectByHand(first.baseUrl, "cti", person);
  good = connected.tokens.access_token;
  refreshToken = connected.tokens.refresh_token;
  codeOfGood = (await allow(await register(first.baseUrl), "cti", person)).code;
  const admins = await connectByHand(first.baseUrl, "cti", personAt(first.bootstrap.admin));
  adminsGrant = claimsOf(admins.tokens.access_token).gid as string;
  others = (await connectByHand(other.baseUrl, "cti", personAt(other.bootstrap.analyst))).tokens.access_token;
  await first.stop();
  keys = await keysOf(first.dataDir);
  program = await startProgram({ env, dataDir: first.dataDir });
});
afterAll(async () => {
  await program?.stop();
  program?.forget();
  await other?.stop();
});

async function keysOf(dataDir: string): Promise<Record<RingName, Ring>> {
  const store = await openEmbeddedStore(dataDir);
  try {
    const seal = createSeal(parseSealKeys(readFileSync(join(dataDir, "secrets-key"), "utf8")));
    const records = await openAuthStore(store);
    const times = { leadMs: 1e9, graceMs: 1e9, rotateMs: 1e12 };
    const of = async (ring: RingName) => (await openKeyRing(records, ring, { ...times, seal })).signingJwks();
    return { access: await of("access"), assertion: await of("assertion"), platform: await of("platform") };
  } finally {
    await store.close();
  }
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const keyOf = (ring: RingName = "access"): JWK => keys[ring][0] as JWK;
const headerOf = (jwk: JWK = keyOf()) => ({ alg: "EdDSA", typ: "at+jwt", kid: jwk.kid });

async function signed(header: object, claims: object, jwk: JWK = keyOf()): Promise<string> {
  const text = `${encode(header)}.${encode(claims)}`;
  const key = (await importJWK(jwk, "EdDSA")) as Parameters<typeof crypto.subtle.sign>[1];
  const signature = await crypto.subtle.sign("Ed25519", key, Buffer.from(text));
  return `${text}.${Buffer.from(signature).toString("base64url")}`;
}

/** The good token with other claims; undefined leaves one out. */
function claiming(changed: Claims): () => Promise<string> {
  return () => signed(headerOf(), { ...claimsOf(good), jti: randomUUID(), ...changed });
}

/** The good token with another header, signed by the right key. */
function headed(changed: object): () => Promise<string> {
  return () => signed({ ...headerOf(), ...changed }, claimsOf(good));
}

function withKey(alg: string, key: KeyObject, more: object = {}): string {
  const text = `${encode({ ...headerOf(), alg, ...more })}.${encode(claimsOf(good))}`;
  const options = alg === "EdDSA" ? key : { key, dsaEncoding: "ieee-p1363" as const };
  const signature = signBytes(alg === "EdDSA" ? null : "sha256", Buffer.from(text), options);
  return `${text}.${signature.toString("base64url")}`;
}

function hmac(secret: string | Buffer): string {
  const text = `${encode({ ...headerOf(), alg: "HS256" })}.${encode(claimsOf(good))}`;
  return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
}

const publicHalf = ({ kty, crv, x, kid }: JWK): JWK => ({ kty, crv, x, kid }) as JWK;
const url = (server: string) => `${program.baseUrl}/mcp/${server}`;
const foreign = () => generateKeyPairSync("ed25519").privateKey;

const FORGERIES: Record<string, () => string | Promise<string>> = {
  "no algorithm": () => `${encode({ ...headerOf(), alg: "none" })}.${encode(claimsOf(good))}.`,
  "no algorithm, with a signature": () =>
    `${encode({ ...headerOf(), alg: "none" })}.${encode(claimsOf(good))}.${good.split(".")[2]}`,
  "HS256 with the public key as secret": () => hmac(Buffer.from(keyOf().x as string, "base64url")),
  "HS256 with the public JWK as secret": () => hmac(JSON.stringify(publicHalf(keyOf()))),
  "HS256 with an empty secret": () => hmac(""),
  "another key under our key id": () => withKey("EdDSA", foreign()),
  "another key under its own id": () => withKey("EdDSA", foreign(), { kid: "mine" }),
  "another key that it brings along": () => withKey("EdDSA", foreign(), { jwk: publicHalf(keyOf()) }),
  "another key at an address that it names": () => withKey("EdDSA", foreign(), { jku: "https://evil.test/jwks" }),
  "another key in a certificate": () => withKey("EdDSA", foreign(), { x5c: ["MIIB"] }),
  "ES256 under our key id": () => withKey("ES256", generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey),
  "RS256 under our key id": () => withKey("RS256", generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey),
  "no key id, another key": () => withKey("EdDSA", foreign(), { kid: undefined }),
  "the key of caller assertions": () => signed(headerOf(keyOf("assertion")), claimsOf(good), keyOf("assertion")),
  "the key of platform tokens": () => signed(headerOf(keyOf("platform")), claimsOf(good), keyOf("platform")),
  "the key of platform tokens under our key id": () => signed(headerOf(), claimsOf(good), keyOf("platform")),
  "typ JWT": headed({ typ: "JWT" }),
  "no typ": headed({ typ: undefined }),
  "typ of caller assertions": headed({ typ: "caller+jwt" }),
  "a critical header that nobody knows": headed({ crit: ["x"], x: 1 }),
  "an unencoded payload": headed({ crit: ["b64"], b64: false }),
  "the issuer of another deployment": claiming({ iss: "https://other.example" }),
  "the issuer with a slash": () => claiming({ iss: `${program.baseUrl}/` })(),
  "the issuer in capitals": () => claiming({ iss: program.baseUrl.toUpperCase() })(),
  "no issuer": claiming({ iss: undefined }),
  "the audience of another endpoint": () => claiming({ aud: url("grc") })(),
  "a list with the right audience": () => claiming({ aud: [url("cti")] })(),
  "a list of two endpoints": () => claiming({ aud: [url("cti"), url("grc")] })(),
  "the audience with a slash": () => claiming({ aud: `${url("cti")}/` })(),
  "the audience with a query": () => claiming({ aud: `${url("cti")}?toolsets=search` })(),
  "the audience of the whole service": () => claiming({ aud: program.baseUrl })(),
  "the client as audience": () => claiming({ aud: claimsOf(good).client_id })(),
  "no audience": claiming({ aud: undefined }),
  "an end that is over": claiming({ exp: Math.floor(Date.now() / 1000) - 60 }),
  "no end": claiming({ exp: undefined }),
  "an end in words": claiming({ exp: "tomorrow" }),
  "a beginning that is to come": claiming({ nbf: Math.floor(Date.now() / 1000) + 600 }),
  "no time of issue": claiming({ iat: undefined }),
  "no subject": claiming({ sub: undefined }),
  "a subject that is nobody": claiming({ sub: randomUUID() }),
  "another person's grant": () => claiming({ gid: adminsGrant })(),
  "no grant": claiming({ gid: undefined }),
  "a grant that never was": claiming({ gid: "A".repeat(43) }),
  "a grant that is a list": () => claiming({ gid: [claimsOf(good).gid] })(),
  "an API key as grant": () => claiming({ gid: program.bootstrap.analyst.api_key.split("_")[1]?.slice(0, 12) })(),
  "another client": claiming({ client_id: "somebody" }),
  "no client": claiming({ client_id: undefined }),
  "no scope": claiming({ scope: undefined }),
  "no id": () => signed(headerOf(), { ...claimsOf(good), jti: undefined }),
  "changed claims under the old signature": () => {
    const [header, , signature] = good.split(".");
    return `${header}.${encode({ ...claimsOf(good), scope: "cti:read cti:write admin" })}.${signature}`;
  },
  "a changed signature": () => `${good.slice(0, -2)}${good.endsWith("AA") ? "BB" : "AA"}`,
  "no signature": () => good.split(".").slice(0, 2).join("."),
  "five parts": () => `${good}.AAAA.AAAA`,
  "a longer one than we issue": claiming({ more: "x".repeat(3_000) }),
  "the token of another deployment": () => others,
  "an API key of another deployment": () => other.bootstrap.analyst.api_key,
  "the refresh token": () => refreshToken,
  "a code": () => codeOfGood,
  "an id token": () =>
    signed(
      { alg: "EdDSA", kid: keyOf().kid, typ: "JWT" },
      { ...claimsOf(good), aud: claimsOf(good).client_id, nonce: "n" },
    ),
};

test("there are at least 40 kinds", () => {
  expect(Object.keys(FORGERIES).length).toBeGreaterThanOrEqual(40);
});

test("the token that they are made of is good", async () => {
  expect((await post(url("cti"), good, "tools/list")).status).toBe(200);
  expect((await post(url("cti"), await claiming({})(), "tools/list")).status).toBe(200);
});

test.each(Object.keys(FORGERIES))("%s is refused", async (kind) => {
  const forged = await FORGERIES[kind]?.();
  const { status, headers, body } = await post(url("cti"), forged as string, "tools/list");
  expect({ status, word: body.error?.data?.error }).toEqual({ status: 401, word: "invalid_token" });
  expect(headers.get("www-authenticate")).toContain('error="invalid_token"');
});

test("an access token opens no other door of the service", async () => {
  const doors = [
    ["/rpc/auth.v1.UserService/ListUsers", "application/json"],
    ["/rpc/auth.v1.ApiKeyService/CreateApiKey", "application/json"],
    ["/v1/traces", "application/json"],
  ] as const;
  for (const [path, type] of doors) {
    const reply = await fetch(`${program.baseUrl}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${good}`, "content-type": type },
      body: "{}",
    });
    expect(reply.status, path).toBe(401);
  }
});
