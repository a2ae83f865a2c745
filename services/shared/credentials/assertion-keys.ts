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
const KEYS_COOLDOWN_MS = 10_000;

/** Verifies assertions by auth's published keys. */
export interface AssertionKeys {
  /** @throws ConnectError unauthenticated, or unavailable where the keys cannot be fetched. */
  verify(assertion: string, audience: ServiceName): Promise<AssertionClaims>;
}

/**
 * Keeps auth's key set, fetched by rpc and at most once at a time: jose's
 * createRemoteJWKSet fetches by HTTP, and refuses everybody while a refresh fails.
 */
export function createAssertionKeys(dispatch: Dispatch): AssertionKeys {
  let set: ReturnType<typeof createLocalJWKSet> | undefined;
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let fetching: Promise<void> | undefined;

  async function fetchKeys(): Promise<void> {
    const out = { credential: {}, deadline: Date.now() + DEADLINE_MS };
    const { jwks } = await dispatch.unary(CredentialService.method.getAssertionKeys, {}, out);
    set = createLocalJWKSet(JSON.parse(jwks));
    fetchedAt = performance.now();
  }

  function fetchOnce(): Promise<void> {
    fetching ??= fetchKeys().finally(() => {
      fetching = undefined;
    });
    return fetching;
  }

  async function current(): Promise<ReturnType<typeof createLocalJWKSet>> {
    if (set === undefined) await fetchOnce();
    // Old keys still verify; a failed refresh is no reason to refuse anybody.
    else if (performance.now() - fetchedAt > KEYS_FRESH_MS) await fetchOnce().catch(() => undefined);
    return set as NonNullable<typeof set>;
  }

  return {
    async verify(assertion, audience) {
      try {
        return await verifyAssertion(assertion, await current(), [audience]);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
        if (performance.now() - fetchedAt < KEYS_COOLDOWN_MS) {
          throw unauthenticated("the caller assertion is not valid for this service", error);
        }
        await fetchOnce();
        try {
          return await verifyAssertion(assertion, set as NonNullable<typeof set>, [audience]);
        } catch (again) {
          throw unauthenticated("the caller assertion is not valid for this service", again);
        }
      }
    },
  };
}
