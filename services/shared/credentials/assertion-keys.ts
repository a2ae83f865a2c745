import { createLocalJWKSet, errors } from "jose";
import { CredentialService } from "#proto/auth/v1/credential_service_pb.js";
import type { Dispatch } from "../rpc/dispatch.js";
import { unauthenticated } from "../rpc/errors.js";
import type { ServiceName } from "../rpc/service.js";
import type { AssertionClaims } from "./assertions-claims.js";
import { verifyAssertion } from "./verify-assertion.js";

const DEADLINE_MS = 2_000;
/** Keys are published ten minutes before they sign; fetched at half of that, no new one is ever unknown. */
const KEYS_FRESH_MS = 5 * 60_000;
/**
 * How long no keys are fetched after they were fetched for a key that they lack: one that signs at once, in place of
 * one that was revoked, or a stranger's.
 */
const KEYS_COOLDOWN_MS = 3_000;
const REFUSED = "the caller assertion is not valid for this service";

/** Verifies assertions by auth's published keys. */
export interface AssertionKeys {
  /** @throws ConnectError unauthenticated, or unavailable where the keys cannot be fetched. */
  verify(assertion: string, audience: ServiceName): Promise<AssertionClaims>;
  /** Forgets the keys: one of them was revoked. */
  drop(): void;
}

/**
 * Keeps auth's key set, fetched by rpc and at most once at a time: jose's
 * createRemoteJWKSet fetches by HTTP, and refuses everybody while a refresh fails.
 */
export function createAssertionKeys(dispatch: Dispatch): AssertionKeys {
  let set: ReturnType<typeof createLocalJWKSet> | undefined;
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let missedAt = Number.NEGATIVE_INFINITY;
  let fetching: Promise<void> | undefined;
  let drops = 0;

  async function fetchKeys(): Promise<void> {
    const dropped = drops;
    const out = { credential: {}, deadline: Date.now() + DEADLINE_MS };
    const { jwks } = await dispatch.unary(CredentialService.method.getAssertionKeys, {}, out);
    // Asked for before the revocation, the answer may have the key that was revoked.
    if (dropped !== drops) return;
    set = createLocalJWKSet(JSON.parse(jwks));
    fetchedAt = performance.now();
  }

  function fetchOnce(): Promise<void> {
    if (fetching !== undefined) return fetching;
    const mine = fetchKeys().finally(() => {
      if (fetching === mine) fetching = undefined;
    });
    fetching = mine;
    return mine;
  }

  async function current(): Promise<ReturnType<typeof createLocalJWKSet>> {
    // Old keys still verify; a failed refresh is no reason to refuse anybody.
    if (set !== undefined && performance.now() - fetchedAt > KEYS_FRESH_MS) await fetchOnce().catch(() => undefined);
    while (set === undefined) await fetchOnce();
    return set;
  }

  /** Fetches the keys because they lack one; false where that was done a moment ago. */
  async function missed(): Promise<boolean> {
    if (fetching === undefined) {
      if (performance.now() - missedAt < KEYS_COOLDOWN_MS) return false;
      missedAt = performance.now();
    }
    await fetchOnce();
    return true;
  }

  return {
    drop() {
      drops++;
      set = undefined;
      fetching = undefined;
    },
    async verify(assertion, audience) {
      const used = await current();
      try {
        return await verifyAssertion(assertion, used, [audience]);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
        if (set === used && !(await missed())) throw unauthenticated(REFUSED, error);
        try {
          return await verifyAssertion(assertion, await current(), [audience]);
        } catch (again) {
          throw unauthenticated(REFUSED, again);
        }
      }
    },
  };
}
