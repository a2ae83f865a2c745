import { createRemoteJWKSet, jwtVerify } from "jose";
import { type Account, foldEmail } from "./users.js";

const HOUR_MS = 3_600_000;
const COOL_DOWN_MS = 30_000;

/**
 * Finds the account that a token signs in, as the platform does: Ed25519, the
 * issuer exact, keys from the issuer's address and kept for an hour, `exp` and
 * `nbf` without leeway where present, the audience not looked at, the e-mail
 * compared ignoring case and accents.
 *
 * @returns a function that answers undefined for every token it refuses; the
 * API then treats the caller as nobody.
 */
export function createTokenReader(trust: string, accounts: readonly Account[]) {
  const keys = createRemoteJWKSet(new URL(`${trust}/xtm/auth/jwks`), {
    cacheMaxAge: HOUR_MS,
    cooldownDuration: COOL_DOWN_MS,
    timeoutDuration: 5_000,
  });
  return async (authorization: string | undefined): Promise<Account | undefined> => {
    const token = /^Bearer (ey\S+)$/.exec(authorization ?? "")?.[1];
    if (token === undefined) return undefined;
    try {
      const { payload } = await jwtVerify(token, keys, { issuer: trust, algorithms: ["EdDSA"] });
      const email = Array.isArray(payload.email) ? payload.email[0] : payload.email;
      if (typeof email !== "string" || email.includes("*")) return undefined;
      const wanted = foldEmail(email);
      return accounts.find((account) => account.status !== "Inactive" && foldEmail(account.email) === wanted);
    } catch {
      return undefined;
    }
  };
}
