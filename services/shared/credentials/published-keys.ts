import { createLocalJWKSet, errors } from "jose";
import { CredentialService } from "#proto/auth/v1/credential_service_pb.js";
import type { Dispatch } from "../rpc/dispatch.js";
import { unauthenticated } from "../rpc/errors.js";
import type { ServiceName } from "../rpc/service.js";
import { type AccessTokenClaims, verifyAccessToken } from "./access-token.js";
import type { AssertionClaims } from "./assertions-claims.js";
import { verifyAssertion } from "./verify-assertion.js";

const DEADLINE_MS = 2_000;
/** Keys are published ten minutes before they sign; fetched at half of that, no new one is ever unknown. */
const KEYS_FRESH_MS = 5 * 60_000;
const KEYS_COOLDOWN_MS = 10_000;

/** The public keys of a ring, and who signs with them. */
interface Published {
  readonly set: ReturnType<typeof createLocalJWKSet>;
  readonly issuer: string;
}

/** Verifies something by published keys. @throws jose's JWKSNoMatchingKey where they lack the one that signed. */
type Verify<T> = (keys: Published) => Promise<T>;

/** Verifies assertions by auth's published keys. */
export interface AssertionKeys {
  /** @throws ConnectError unauthenticated, or unavailable where the keys cannot be fetched. */
  verify(assertion: string, audience: ServiceName): Promise<AssertionClaims>;
}

/** Verifies access tokens by auth's published keys. */
export interface AccessTokenKeys {
  /** @throws ConnectError unauthenticated, or unavailable where the keys cannot be fetched. */
  verify(token: string): Promise<AccessTokenClaims>;
}

/** Keeps the keys of assertions. */
export function createAssertionKeys(dispatch: Dispatch): AssertionKeys {
  const keys = new PublishedKeys(async (deadline) => {
    const { jwks } = await dispatch.unary(CredentialService.method.getAssertionKeys, {}, { credential: {}, deadline });
    return { jwks, issuer: "" };
  });
  return {
    verify: (assertion, audience) =>
      keys.with(
        ({ set }) => verifyAssertion(assertion, set, [audience]),
        "the caller assertion is not valid for this service",
      ),
  };
}

/** Keeps the keys of access tokens. */
export function createAccessTokenKeys(dispatch: Dispatch): AccessTokenKeys {
  const keys = new PublishedKeys((deadline) =>
    dispatch.unary(CredentialService.method.getAccessTokenKeys, {}, { credential: {}, deadline }),
  );
  return {
    verify: (token) =>
      keys.with(({ set, issuer }) => verifyAccessToken(token, set, issuer), "the access token is not valid"),
  };
}

/**
 * A key set, fetched by rpc and at most once at a time: jose's
 * createRemoteJWKSet fetches by HTTP, and refuses everybody while a refresh fails.
 */
class PublishedKeys {
  #keys: Published | undefined;
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #fetching: Promise<Published> | undefined;

  constructor(
    private readonly ask: (deadline: number) => Promise<{ readonly jwks: string; readonly issuer: string }>,
  ) {}

  /** @throws ConnectError unauthenticated with the sentence, where no published key has signed. */
  async with<T>(verify: Verify<T>, refusal: string): Promise<T> {
    try {
      return await verify(await this.#current());
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      if (performance.now() - this.#fetchedAt < KEYS_COOLDOWN_MS) throw unauthenticated(refusal, error);
      const keys = await this.#fetchOnce();
      try {
        return await verify(keys);
      } catch (again) {
        throw unauthenticated(refusal, again);
      }
    }
  }

  async #current(): Promise<Published> {
    if (this.#keys === undefined) return this.#fetchOnce();
    // Old keys still verify; a failed refresh is no reason to refuse anybody.
    if (performance.now() - this.#fetchedAt > KEYS_FRESH_MS) await this.#fetchOnce().catch(() => undefined);
    return this.#keys;
  }

  #fetchOnce(): Promise<Published> {
    this.#fetching ??= this.#fetch().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #fetch(): Promise<Published> {
    const { jwks, issuer } = await this.ask(Date.now() + DEADLINE_MS);
    const keys = { set: createLocalJWKSet(JSON.parse(jwks)), issuer };
    this.#keys = keys;
    this.#fetchedAt = performance.now();
    return keys;
  }
}
