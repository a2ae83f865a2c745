import { randomUUID } from "node:crypto";
import { SignJWT } from "jose";
import { LRUCache } from "lru-cache";
import type { KeyRing } from "./key-ring.js";

/** Who a platform token is for, and for which platform. */
export interface PlatformSubject {
  readonly userId: string;
  /** Verified, lower case. */
  readonly email: string;
  /** What the platform calls itself. */
  readonly audience: string;
}

/** A signed token. */
export interface PlatformToken {
  readonly token: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Signs the tokens by which platforms recognise the calling user. */
export interface PlatformTokens {
  /** What tokens name as their issuer. */
  readonly issuer: string;
  /**
   * One token for a user and a platform, kept for a minute.
   *
   * @param fresh a token of its own, given to nobody before or after.
   */
  mint(subject: PlatformSubject, fresh: boolean): Promise<PlatformToken>;
}

type Signer = Awaited<ReturnType<KeyRing["signer"]>>;

const TTL_S = 120;
/** Platforms whose clock is a little behind ours refuse a token from the future. */
const BACKDATED_S = 5;
const KEPT_MS = 60_000;
const KEPT = 20_000;

/** @param issuer the public base URL without a trailing slash. */
export function createPlatformTokens(ring: KeyRing, issuer: string): PlatformTokens {
  // By the wall clock, which a token expires by, and not by the monotonic one of a ttl.
  const kept = new LRUCache<string, PlatformToken & { readonly until: number; readonly kid: string }>({ max: KEPT });

  async function sign({ userId, email, audience }: PlatformSubject, { kid, key }: Signer): Promise<PlatformToken> {
    const issuedAt = Math.floor(Date.now() / 1000) - BACKDATED_S;
    const expiresAt = issuedAt + TTL_S;
    // No nbf: a verifier without tolerance and two seconds behind would refuse a new token.
    const token = await new SignJWT({ email })
      .setProtectedHeader({ alg: "EdDSA", typ: "JWT", kid })
      .setIssuer(issuer)
      .setSubject(userId)
      .setAudience(audience)
      .setIssuedAt(issuedAt)
      .setExpirationTime(expiresAt)
      .setJti(randomUUID())
      .sign(key);
    return { token, expiresAt: expiresAt * 1000 };
  }

  return {
    issuer,
    async mint(subject, fresh) {
      const signer = await ring.signer();
      if (fresh) return sign(subject, signer);
      const name = JSON.stringify([subject.userId, subject.email, subject.audience]);
      const found = kept.get(name);
      // A token of a key that signs no more may be of one that was revoked.
      if (found !== undefined && found.until > Date.now() && found.kid === signer.kid) return found;
      const minted = { ...(await sign(subject, signer)), until: Date.now() + KEPT_MS, kid: signer.kid };
      kept.set(name, minted);
      return minted;
    },
  };
}
