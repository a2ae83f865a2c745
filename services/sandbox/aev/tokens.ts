import { type CryptoKey, decodeProtectedHeader, importJWK, type JWK, jwtVerify } from "jose";

export interface TokenRules {
  /** The base URL of the service it trusts: the issuer, exactly, and where the keys are. */
  readonly trust: string;
  /** What must be in the audience, exactly. */
  readonly audience: () => string;
  readonly now: () => number;
}

const KEPT_MS = 3_600_000;

/**
 * Verifies tokens as the platform does: Ed25519 keys from
 * {trust}/xtm/auth/jwks, kept for an hour and read again at once for a key id
 * not known, no leeway in time, issuer and audience exact.
 *
 * @returns a function from a token to the e-mail in it; undefined for a token
 * that is not accepted, with no reason, as the platform gives none.
 */
export function createTokenVerifier({
  trust,
  audience,
  now,
}: TokenRules): (token: string) => Promise<string | undefined> {
  let keys = new Map<string, CryptoKey>();
  let readAt = Number.NEGATIVE_INFINITY;

  async function readKeys(): Promise<void> {
    const reply = await fetch(`${trust}/xtm/auth/jwks`, { signal: AbortSignal.timeout(5_000) });
    if (!reply.ok) throw new Error(`the key set answered ${reply.status}`);
    const { keys: published } = (await reply.json()) as { keys: (JWK & { kid?: string })[] };
    const read = new Map<string, CryptoKey>();
    for (const jwk of published) {
      if (jwk.kid !== undefined && jwk.kty === "OKP") read.set(jwk.kid, (await importJWK(jwk, "EdDSA")) as CryptoKey);
    }
    keys = read;
    readAt = now();
  }

  async function keyOf(kid: string): Promise<CryptoKey | undefined> {
    if (now() - readAt >= KEPT_MS || !keys.has(kid)) await readKeys();
    return keys.get(kid);
  }

  return async (token) => {
    try {
      const { kid } = decodeProtectedHeader(token);
      const key = kid === undefined || kid === "" ? undefined : await keyOf(kid);
      if (key === undefined) return undefined;
      const { payload } = await jwtVerify(token, key, {
        algorithms: ["EdDSA"],
        issuer: trust,
        audience: audience(),
        clockTolerance: 0,
        currentDate: new Date(now()),
      });
      const { email } = payload;
      return typeof email === "string" && email.trim() !== "" ? email.toLowerCase() : undefined;
    } catch {
      return undefined;
    }
  };
}
