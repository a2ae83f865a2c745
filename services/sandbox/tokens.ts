import { createRemoteJWKSet, type JWTPayload, type JWTVerifyGetKey, type JWTVerifyOptions, jwtVerify } from "jose";

/** For how long a key set is kept, in milliseconds. */
export const KEYS_KEPT_MS = 3_600_000;

/**
 * An issuer's keys, read from its key set (RFC 7517 §5), kept for an hour and
 * read again for a key id that is not in it.
 *
 * @param coolDownMs for how long an unknown key id does not read them again.
 */
export function keysAt(url: string, coolDownMs: number): JWTVerifyGetKey {
  return createRemoteJWKSet(new URL(url), {
    cacheMaxAge: KEYS_KEPT_MS,
    cooldownDuration: coolDownMs,
    timeoutDuration: 5_000,
  });
}

/**
 * The claims of a token (RFC 7519) signed with Ed25519; `exp` and `nbf` are
 * held to without leeway where present.
 *
 * @throws JOSEError for every token that is not accepted.
 */
export async function claimsOf(
  token: string,
  keys: JWTVerifyGetKey,
  rules: Pick<JWTVerifyOptions, "issuer" | "audience">,
): Promise<JWTPayload> {
  const { payload } = await jwtVerify(token, keys, { ...rules, algorithms: ["EdDSA"] });
  return payload;
}
