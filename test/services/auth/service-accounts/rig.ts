import { randomUUID } from "node:crypto";
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { ServiceAccountService } from "#proto/auth/v1/service_account_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import type { Stack } from "../stack.js";

/** The only audience of client assertions in these tests. */
export const ISSUER = "https://sallyport.example";

export const { createServiceAccount, updateServiceAccount, deleteServiceAccount, exchangeClientAssertion } =
  ServiceAccountService.method;

export interface Pair {
  readonly alg: string;
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

export async function newPair(alg: string, kid: string = randomUUID(), modulusLength = 2_048): Promise<Pair> {
  const crv = alg === "EdDSA" ? { crv: "Ed25519" } : {};
  const { privateKey, publicKey } = await generateKeyPair(alg, { ...crv, modulusLength, extractable: true });
  return { alg, kid, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid } };
}

/** A JWK set as it is registered. */
export const setOf = (...keys: JWK[]): string => JSON.stringify({ keys });

/** Signs what an account would; members that are undefined are left out. */
export function assertionOf(pair: Pair, name: string, claims: object = {}, header: object = {}): Promise<string> {
  const now = Math.floor(Date.now() / 1_000);
  const all = { iss: name, sub: name, aud: ISSUER, iat: now, exp: now + 60, jti: randomUUID(), ...claims };
  return new SignJWT(JSON.parse(JSON.stringify(all)))
    .setProtectedHeader(JSON.parse(JSON.stringify({ alg: pair.alg, kid: pair.kid, ...header })))
    .sign(pair.privateKey);
}

let made = 0;

/** A new service account, with the way to exchange an assertion of its own. */
export async function newAccount(
  stack: Stack,
  { methods = [] as string[], users = [] as string[], groups = [] as string[], alg = "EdDSA" } = {},
) {
  const pair = await newPair(alg);
  const name = `svc:system-${made++}`;
  const { account } = await stack.as(stack.secrets.admin.apiKey, createServiceAccount, {
    ...{ name, jwks: setOf(pair.publicJwk), methods: { names: methods }, act: { users, groups } },
  });
  const exchange = (clientAssertion: string, actFor = "") =>
    stack.dispatch.unary(exchangeClientAssertion, { clientAssertion, actFor }, { credential: {} });
  return {
    ...{ id: account!.id, name, pair, account: account!, exchange },
    /** Signs and exchanges. */
    enter: async (actFor: string = "") => exchange(await assertionOf(pair, name), actFor),
  };
}

export async function newUser(stack: Stack, more: { admin?: boolean; groups?: string[] } = {}) {
  const email = `person-${made++}@example.org`;
  const { user } = await stack.as(stack.secrets.admin.apiKey, UserService.method.createUser, {
    ...{ email, name: email, ...more },
  });
  return user!;
}
