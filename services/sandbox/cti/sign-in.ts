import { claimsOf, keysAt } from "../tokens.js";
import type { Account } from "./account.js";

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
export function createSignIn(
  trust: string,
  accounts: readonly Account[],
): (authorization: string | undefined) => Promise<Account | undefined> {
  const keys = keysAt(`${trust}/xtm/auth/jwks`, COOL_DOWN_MS);
  return async (authorization) => {
    const token = /^Bearer (ey\S+)$/.exec(authorization ?? "")?.[1];
    if (token === undefined) return undefined;
    try {
      const { email: claim } = await claimsOf(token, keys, { issuer: trust });
      const email: unknown = Array.isArray(claim) ? claim[0] : claim;
      if (typeof email !== "string" || email.includes("*")) return undefined;
      const wanted = foldEmail(email);
      return accounts.find((account) => account.status !== "Inactive" && foldEmail(account.email) === wanted);
    } catch {
      return undefined;
    }
  };
}

/** How the platform compares e-mail addresses: ignoring case and accents. */
function foldEmail(email: string): string {
  return email
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "")
    .toLowerCase();
}
