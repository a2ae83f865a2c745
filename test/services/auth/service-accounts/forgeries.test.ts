import { createHmac, randomUUID } from "node:crypto";
import { Code } from "@connectrpc/connect";
import { type CryptoKey, exportSPKI, importJWK } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createAuthService } from "../../../../services/auth/service.js";
import { silentLog } from "../../../../services/shared/process/log.js";
import { mountInProcess } from "../../../../services/shared/rpc/in-process.js";
import { SEAL, type Stack, startStack } from "../stack.js";
import {
  assertionOf,
  exchangeClientAssertion,
  ISSUER,
  newAccount,
  newPair,
  type Pair,
  setOf,
  updateServiceAccount,
} from "./rig.js";

// Whoever cannot sign as a service account gets nothing, whatever is tried.

let stack: Stack;
let account: Awaited<ReturnType<typeof newAccount>>;
let other: Awaited<ReturnType<typeof newAccount>>;
let rsa: Awaited<ReturnType<typeof newAccount>>;
let stranger: Pair;
beforeAll(async () => {
  stack = await startStack();
  account = await newAccount(stack);
  other = await newAccount(stack);
  rsa = await newAccount(stack, { alg: "RS256" });
  stranger = await newPair("EdDSA");
});
afterAll(() => stack.close());

const now = () => Math.floor(Date.now() / 1_000);
const encoded = (part: object | string): string =>
  Buffer.from(typeof part === "string" ? part : JSON.stringify(part)).toString("base64url");
const claimsOf = (name: string) => ({ iss: name, sub: name, aud: ISSUER, exp: now() + 60, jti: randomUUID() });
const signed = (claims: object = {}, header: object = {}) => assertionOf(account.pair, account.name, claims, header);
const by = (pair: Pair, header: object = {}) => assertionOf(pair, account.name, {}, header);

async function hmacWith(secret: string | Buffer): Promise<string> {
  const body = `${encoded({ alg: "HS256", kid: rsa.pair.kid })}.${encoded(claimsOf(rsa.name))}`;
  return `${body}.${createHmac("sha256", secret).update(body).digest("base64url")}`;
}

const FORGERIES: [string, () => Promise<string> | string][] = [
  ["alg none", () => `${encoded({ alg: "none", kid: account.pair.kid })}.${encoded(claimsOf(account.name))}.`],
  ["alg None", () => `${encoded({ alg: "None", kid: account.pair.kid })}.${encoded(claimsOf(account.name))}.`],
  ["a good header and no signature", async () => `${(await signed()).split(".").slice(0, 2).join(".")}.`],
  [
    "HS256 with the public key in PEM",
    async () => hmacWith(await exportSPKI((await importJWK(rsa.pair.publicJwk, "RS256")) as CryptoKey)),
  ],
  ["HS256 with the public modulus", () => hmacWith(Buffer.from(rsa.pair.publicJwk.n as string, "base64url"))],
  [
    "RS512 by an RSA key",
    async () => {
      const { privateKey } = await newPair("RS512");
      return assertionOf({ ...rsa.pair, alg: "RS512", privateKey }, rsa.name);
    },
  ],
  [
    "PS256 by an RSA key",
    async () => {
      const { privateKey } = await newPair("PS256");
      return assertionOf({ ...rsa.pair, alg: "PS256", privateKey }, rsa.name);
    },
  ],
  ["another algorithm than the key's", async () => by({ ...(await newPair("ES256")), kid: account.pair.kid })],
  ["another account's key", () => by(other.pair)],
  ["another account's key under this account's kid", () => by({ ...other.pair, kid: account.pair.kid })],
  ["a stranger's key", () => by(stranger)],
  ["a stranger's key in jwk", () => by(stranger, { jwk: stranger.publicJwk })],
  [
    "a stranger's key in jwk under this account's kid",
    () => by({ ...stranger, kid: account.pair.kid }, { jwk: { ...stranger.publicJwk, kid: account.pair.kid } }),
  ],
  ["a key set elsewhere", () => by(account.pair, { jku: "https://attacker.example/jwks" })],
  ["a certificate", () => by(account.pair, { x5c: ["AAAA"] })],
  ["a certificate elsewhere", () => by(account.pair, { x5u: "https://attacker.example/cert" })],
  ["an unknown header member", () => by(account.pair, { zip: "DEF" })],
  ["no kid", () => by(account.pair, { kid: undefined })],
  ["a kid that is no text", () => by(account.pair, { kid: 1 })],
  ["a kid that is a path", () => by({ ...stranger, kid: "../../dev/null" })],
  ["the type of a caller assertion", () => signed({}, { typ: "caller+jwt" })],
  ["the type of an access token", () => signed({}, { typ: "at+jwt" })],
  ["another deployment's aud", () => signed({ aud: "https://test.sallyport.example" })],
  ["the aud with a slash", () => signed({ aud: `${ISSUER}/` })],
  ["the aud in other case", () => signed({ aud: ISSUER.toUpperCase() })],
  ["a list as aud", () => signed({ aud: [ISSUER] })],
  ["a list with another aud", () => signed({ aud: [ISSUER, "https://attacker.example"] })],
  ["no aud", () => signed({ aud: undefined })],
  ["an exp in the past", () => signed({ exp: now() - 11 })],
  ["too long a life", () => signed({ exp: now() + 330 })],
  ["an exp that is a text", () => signed({ exp: String(now() + 60) })],
  ["no exp", () => signed({ exp: undefined })],
  ["an exp beyond numbers", () => signed({ exp: 1e308 })],
  ["an iat in the future", () => signed({ iat: now() + 60 })],
  ["an nbf in the future", () => signed({ nbf: now() + 60 })],
  ["no jti", () => signed({ jti: undefined })],
  ["an empty jti", () => signed({ jti: "" })],
  ["a jti that is an object", () => signed({ jti: { $ne: "" } })],
  ["too long a jti", () => signed({ jti: "j".repeat(129) })],
  ["another account's iss", () => signed({ iss: other.name })],
  ["another account's sub", () => signed({ sub: other.name })],
  ["another account's iss and sub", () => signed({ iss: other.name, sub: other.name })],
  ["an account that is not there", () => signed({ iss: "svc:nobody", sub: "svc:nobody" })],
  ["our own account's name", () => signed({ iss: "service:sallyport", sub: "service:sallyport" })],
  ["a person's name", () => signed({ iss: "admin@example.org", sub: "admin@example.org" })],
  ["an operator as iss and sub", () => signed({ iss: { $gt: "" }, sub: { $gt: "" } })],
  [
    "claims that were changed",
    async () => {
      const [head, , signature] = (await signed()).split(".");
      return `${head}.${encoded(claimsOf(account.name))}.${signature}`;
    },
  ],
  ["an API key", () => stack.secrets.serviceKey],
  ["no JWT", () => "abc"],
  ["JSON that is no object", () => `${encoded("[]")}.${encoded("1")}.AAAA`],
];

test.each(FORGERIES)("%s is refused", async (_, forge) => {
  const assertion = await forge();
  await expect(account.exchange(assertion)).rejects.toMatchObject({ code: Code.Unauthenticated });
});

test("each of those differs from one that is taken: so is this account's own, with each algorithm", async () => {
  expect((await account.enter()).callerId).toBe(account.id);
  expect((await rsa.enter()).callerId).toBe(rsa.id);
  expect((await (await newAccount(stack, { alg: "ES256" })).enter()).callerId).not.toBe("");
  await account.exchange(await signed({ exp: now() + 300 }));
  await account.exchange(await signed({}, { typ: "JWT" }));
});

test("an oversized assertion is refused before it is read", async () => {
  const long = await signed({ pad: "x".repeat(4_096) });
  await expect(account.exchange(long)).rejects.toMatchObject({ code: Code.InvalidArgument });
});

test("an assertion is used once, at the same time too: of six one wins", async () => {
  const assertion = await signed({ jti: "once" });
  await account.exchange(assertion);
  await expect(account.exchange(assertion)).rejects.toThrow(/used before/);
  await expect(account.exchange(await signed({ jti: "once" }))).rejects.toThrow(/used before/);
  // Another account may have chosen the same.
  await other.exchange(await assertionOf(other.pair, other.name, { jti: "once" }));
  const raced = await signed();
  const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => account.exchange(raced)));
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});

test("what was used is kept in the store for as long as it could be presented, and no longer", async () => {
  const before = Date.now();
  await account.exchange(await signed({ exp: now() + 200 }));
  const records = await stack.records.usedAssertions.find({}).toArray();
  const last = Math.max(...records.map(({ expires_at }) => expires_at.getTime()));
  expect(last).toBeGreaterThanOrEqual(before + 200_000);
  expect(last).toBeLessThan(before + 330_000);
});

test("a key that was replaced signs no more", async () => {
  const next = await newPair("ES256");
  const rotated = await newAccount(stack);
  await rotated.enter();
  await stack.as(stack.secrets.admin.apiKey, updateServiceAccount, { id: rotated.id, jwks: setOf(next.publicJwk) });
  await expect(rotated.enter()).rejects.toMatchObject({ code: Code.Unauthenticated });
  await rotated.exchange(await assertionOf(next, rotated.name));
});

test("an account exchanges only so many at a time; forged ones use up nothing of that", async () => {
  const busy = await newAccount(stack);
  for (let n = 0; n < 150; n++)
    await expect(busy.exchange(await assertionOf(stranger, busy.name))).rejects.toMatchObject({ code: 16 });
  const outcomes = await Promise.allSettled(Array.from({ length: 130 }, () => busy.enter()));
  const refused = outcomes.filter((one) => one.status === "rejected").map(({ reason }) => reason.code);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.length).toBeLessThanOrEqual(30);
  expect(new Set(refused)).toEqual(new Set([Code.ResourceExhausted]));
});

test("what was used at one process is used at another of the same store", async () => {
  const assertion = await signed();
  await account.exchange(assertion);
  const next = await createAuthService({ store: stack.store, seal: SEAL, baseUrl: ISSUER, log: silentLog, fenceMs: 0 });
  try {
    const dispatch = mountInProcess(next.methods, { authenticator: next.authenticator, log: silentLog });
    const exchange = (clientAssertion: string) =>
      dispatch.unary(exchangeClientAssertion, { clientAssertion }, { credential: {} });
    await expect(exchange(assertion)).rejects.toThrow(/used before/);
    expect((await exchange(await signed())).callerId).toBe(account.id);
  } finally {
    await next.close();
  }
});
