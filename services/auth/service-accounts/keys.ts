import { createPublicKey, type KeyObject } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { calculateJwkThumbprint, type JWK } from "jose";
import type { PublicKeySchema } from "#proto/auth/v1/service_account_service_pb.js";
import { invalidArgument } from "../../shared/rpc/errors.js";

/** How service accounts may sign (RFC 7518, RFC 8037). */
export type Alg = "RS256" | "ES256" | "EdDSA";

const MOST_KEYS = 5;
const MOST_KID = 128;
const RSA_BITS = { least: 2_048, most: 8_192 };
/** Smaller exponents make RSA weak, and 1 makes it none; larger ones make a check dear. */
const RSA_EXPONENT = { least: 65_537n, most: 2n ** 32n };
/** Members of private and of symmetric keys (RFC 7518 sections 6.2.2, 6.3.2 and 6.4). */
const SECRET = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/**
 * The public keys of a JWK set (RFC 7517 section 5): of each the public members, `kid` and `alg`, and nothing else.
 *
 * @throws ConnectError invalid_argument for anything that is not 1 to 5 such keys.
 */
export function keysOf(jwks: string): JWK[] {
  const keys = setOf(jwks).map(keyOf);
  const twice = keys.find(({ kid }, i) => keys.findIndex((other) => other.kid === kid) !== i);
  if (twice !== undefined) throw invalidArgument(`jwks: two keys have the kid ${JSON.stringify(twice.kid)}`);
  return keys;
}

/** What is shown of a key. */
export async function publicKeyOf(jwk: JWK): Promise<MessageInitShape<typeof PublicKeySchema>> {
  return { kid: jwk.kid ?? "", alg: jwk.alg ?? "", thumbprint: await calculateJwkThumbprint(jwk) };
}

function setOf(jwks: string): unknown[] {
  let set: unknown;
  try {
    set = JSON.parse(jwks);
  } catch {
    throw invalidArgument('jwks must be JSON: {"keys": [ … ]}');
  }
  const keys = (set as { keys?: unknown } | null)?.keys;
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > MOST_KEYS)
    throw invalidArgument(`jwks must be a JWK set with 1 to ${MOST_KEYS} keys: {"keys": [ … ]}`);
  return keys;
}

function keyOf(given: unknown, i: number): JWK {
  const at = `jwks: key ${i + 1}`;
  if (typeof given !== "object" || given === null) throw invalidArgument(`${at} is not an object`);
  const jwk = given as JWK;
  // Before anything is read of it: what is private does not belong here, and is void from now on.
  if (SECRET.some((name) => name in jwk))
    throw invalidArgument(`${at} has its private half: make a new key pair, and send the public key only`);
  const { kid } = jwk;
  if (typeof kid !== "string" || kid === "" || kid.length > MOST_KID)
    throw invalidArgument(`${at} needs a kid of 1 to ${MOST_KID} characters`);
  if (jwk.use !== undefined && jwk.use !== "sig") throw invalidArgument(`${at} is not for signatures: use must be sig`);
  const { alg, members } = kindOf(jwk, at);
  if (jwk.alg !== undefined && jwk.alg !== alg) throw invalidArgument(`${at}: the alg of such a key is ${alg}`);
  const bare = Object.fromEntries(members.map((name) => [name, (jwk as Record<string, unknown>)[name]]));
  if (Object.values(bare).some((value) => typeof value !== "string"))
    throw invalidArgument(`${at} needs the members ${members.join(", ")}`);
  const key = imported(bare, at);
  if (alg === "RS256") checkRsa(key, at);
  return { ...bare, kid, alg } as JWK;
}

function kindOf({ kty, crv }: JWK, at: string): { readonly alg: Alg; readonly members: readonly string[] } {
  if (kty === "RSA") return { alg: "RS256", members: ["kty", "n", "e"] };
  if (kty === "EC" && crv === "P-256") return { alg: "ES256", members: ["kty", "crv", "x", "y"] };
  if (kty === "OKP" && crv === "Ed25519") return { alg: "EdDSA", members: ["kty", "crv", "x"] };
  throw invalidArgument(`${at} must be an RSA, P-256 or Ed25519 key, for RS256, ES256 or EdDSA`);
}

function imported(jwk: object, at: string): KeyObject {
  try {
    return createPublicKey({ key: jwk as never, format: "jwk" });
  } catch (error) {
    throw invalidArgument(`${at} is not a valid public key`, error);
  }
}

function checkRsa(
  { asymmetricKeyDetails: { modulusLength = 0, publicExponent = 0n } = {} }: KeyObject,
  at: string,
): void {
  if (modulusLength < RSA_BITS.least || modulusLength > RSA_BITS.most)
    throw invalidArgument(`${at} must have ${RSA_BITS.least} to ${RSA_BITS.most} bits, and has ${modulusLength}`);
  if (publicExponent < RSA_EXPONENT.least || publicExponent > RSA_EXPONENT.most || publicExponent % 2n === 0n)
    throw invalidArgument(`${at} must have the public exponent 65537 (AQAB)`);
}
