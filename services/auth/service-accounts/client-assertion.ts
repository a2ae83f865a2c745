import { createHash } from "node:crypto";
import { decodeJwt, decodeProtectedHeader, importJWK, type JWTPayload, jwtVerify } from "jose";
import { unauthenticated } from "../../shared/rpc/errors.js";
import { isDuplicateKey } from "../../shared/store/store.js";
import type { AuthStore, UserRecord } from "../store.js";

/** What a client assertion says, as far as it can be seen without its account. */
interface Said {
  readonly kid: string;
  readonly alg: string;
  readonly name: string;
  readonly jti: string;
  /** Seconds since the epoch. */
  readonly exp: number;
}

/** An assertion whose signature is good. */
export interface VerifiedAssertion {
  readonly account: UserRecord;
  readonly jti: string;
  readonly exp: number;
}

/** How far ahead an assertion may expire, in seconds. */
const LONGEST_S = 300;
/** Clocks may differ by so much. */
const TOLERANCE_S = 10;
const MOST_JTI = 128;
/** What the name of a service account is like. */
export const ACCOUNT_NAME = /^svc:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** Any other member could name a key, or change what is signed: jwk, jku, x5c, crit, b64, zip. */
const HEADER: ReadonlySet<string> = new Set(["alg", "kid", "typ"]);
/** RFC 7523 asks for none; draft-ietf-oauth-rfc7523bis names the second. */
const TYPES: ReadonlySet<unknown> = new Set([undefined, "JWT", "client-authentication+jwt"]);
const ALGORITHMS: ReadonlySet<unknown> = new Set(["RS256", "ES256", "EdDSA"]);

/**
 * Verifies an assertion by which a service account says who it is (RFC 7523 section 3): first what it says, then the
 * account, and only then the signature, so that no forgery costs more than one check.
 *
 * @param issuer the only audience: the public base URL.
 * @throws ConnectError unauthenticated; in the same words where account, key or signature is not good.
 */
export async function verifyClientAssertion(
  { users }: Pick<AuthStore, "users">,
  assertion: string,
  issuer: string,
): Promise<VerifiedAssertion> {
  const said = saidBy(assertion, issuer, Math.floor(Date.now() / 1_000));
  const account = await users.findOne({ login: said.name });
  const jwk = account?.account?.keys.find(({ kid }) => kid === said.kid);
  if (account === null || jwk === undefined || jwk.alg !== said.alg) throw unknownSigner();
  try {
    await jwtVerify(assertion, await importJWK(jwk), {
      algorithms: [said.alg],
      issuer: said.name,
      subject: said.name,
      audience: issuer,
      clockTolerance: TOLERANCE_S,
    });
  } catch (error) {
    throw unknownSigner(error);
  }
  return { account, jti: said.jti, exp: said.exp };
}

/**
 * Uses an assertion up, in the store: of several processes that are given the same one at the same time, one wins.
 *
 * @throws ConnectError unauthenticated, where it was used before.
 */
export async function useOnce(
  { usedAssertions }: Pick<AuthStore, "usedAssertions">,
  { account, jti, exp }: VerifiedAssertion,
): Promise<void> {
  const _id = createHash("sha256").update(`${account._id} ${jti}`).digest("base64url");
  try {
    await usedAssertions.insertOne({ _id, expires_at: new Date((exp + 2 * TOLERANCE_S) * 1_000) });
  } catch (error) {
    if (isDuplicateKey(error)) throw refused("its jti was used before: sign a new one for each exchange", error);
    throw error;
  }
}

function saidBy(assertion: string, issuer: string, now: number): Said {
  const { header, claims } = decoded(assertion);
  const unknown = Object.keys(header).find((name) => !HEADER.has(name));
  if (unknown !== undefined) throw refused("its header may have alg, kid and typ only");
  const { alg, kid, typ } = header;
  if (!ALGORITHMS.has(alg)) throw refused("its alg must be RS256, ES256 or EdDSA");
  if (!TYPES.has(typ)) throw refused("its typ must be JWT or client-authentication+jwt");
  if (typeof kid !== "string" || kid === "") throw refused("its header needs the kid of the key");
  const { iss, sub, aud, exp, iat, nbf, jti } = claims as Record<string, unknown>;
  if (typeof iss !== "string" || iss !== sub || !ACCOUNT_NAME.test(iss))
    throw refused("iss and sub must both be the name of the service account, such as svc:soar");
  if (aud !== issuer) throw refused(`aud must be ${JSON.stringify(issuer)}, as a text and not a list`);
  if (typeof exp !== "number" || !Number.isFinite(exp)) throw refused("it needs exp, in seconds since 1970");
  if (exp <= now - TOLERANCE_S) throw refused("it has expired: sign a new one");
  if (exp > now + LONGEST_S + TOLERANCE_S) throw refused(`exp must be at most ${LONGEST_S} seconds from now`);
  for (const [name, at] of Object.entries({ iat, nbf })) {
    if (at !== undefined && !(typeof at === "number" && at <= now + TOLERANCE_S))
      throw refused(`${name} must be a time that has passed: check the clock`);
  }
  if (typeof jti !== "string" || jti === "" || jti.length > MOST_JTI)
    throw refused(`it needs a jti of 1 to ${MOST_JTI} characters, another one each time`);
  return { kid, alg: alg as string, name: iss, jti, exp };
}

function decoded(assertion: string): { readonly header: Record<string, unknown>; readonly claims: JWTPayload } {
  try {
    return { header: decodeProtectedHeader(assertion) as Record<string, unknown>, claims: decodeJwt(assertion) };
  } catch (error) {
    throw refused("it is not a signed JWT", error);
  }
}

function refused(why: string, cause?: unknown): Error {
  return unauthenticated(`the client assertion is refused: ${why}`, cause);
}

function unknownSigner(cause?: unknown): Error {
  return refused(
    "it is not signed by a key of this service account: check the name, the kid, and that this key is registered",
    cause,
  );
}
