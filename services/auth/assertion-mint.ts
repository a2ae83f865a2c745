import { SignJWT } from "jose";
import { ASSERTION_ISSUER, ASSERTION_TYPE, claimsOf } from "../shared/credentials/assertions-claims.js";
import type { Caller } from "../shared/rpc/call.js";
import { SERVICE_NAMES, type ServiceName } from "../shared/rpc/service.js";
import type { KeyRing } from "./key-ring.js";

/** How long a caller assertion lives, in seconds. */
export const ASSERTION_TTL_S = 300;

/** Signs caller assertions. */
export interface AssertionMint {
  /** An assertion for one service. Times are in seconds since the epoch. */
  mint(caller: Caller, audience: ServiceName, seq: number, expiresAt: number): Promise<string>;
  /** One for each service. */
  mintAll(caller: Caller, seq: number, expiresAt: number): Promise<Record<string, string>>;
}

/** Signs with whatever key of the ring signs now. */
export function createAssertionMint(ring: KeyRing): AssertionMint {
  type Signer = Awaited<ReturnType<KeyRing["signer"]>>;

  function sign({ kid, key }: Signer, caller: Caller, audience: ServiceName, seq: number, expiresAt: number) {
    return new SignJWT({ ...claimsOf(caller, seq) })
      .setProtectedHeader({ alg: "EdDSA", typ: ASSERTION_TYPE, kid })
      .setIssuer(ASSERTION_ISSUER)
      .setAudience(audience)
      .setIssuedAt()
      .setExpirationTime(expiresAt)
      .sign(key);
  }
  return {
    async mint(caller, audience, seq, expiresAt) {
      return sign(await ring.signer(), caller, audience, seq, expiresAt);
    },
    async mintAll(caller, seq, expiresAt) {
      const signer = await ring.signer();
      const minted = SERVICE_NAMES.map(
        async (name) => [name, await sign(signer, caller, name, seq, expiresAt)] as const,
      );
      return Object.fromEntries(await Promise.all(minted));
    },
  };
}
