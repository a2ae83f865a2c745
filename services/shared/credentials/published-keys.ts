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
/**
 * How long no keys are fetched after they were fetched for a key that they lack: one that signs at once, in place of
 * one that was revoked, or a stranger's.
 */
const KEYS_COOLDOWN_MS = 3_000;

/** The public keys of a ring, and who signs with them. */
interface Published {
  readonly set: ReturnType<typeof createLocalJWKSet>;
  readonly issuer: string;
}

/** Keys that can be forgotten. */
interface Droppable {
  /** Forgets the keys: one of them was revoked. */
  drop(): void;
}

/** Verifies assertions by auth's published keys. */
export interface AssertionKeys extends Droppable {
  /** @throws ConnectError unauthenticated, or unavailable where the keys cannot be fetched. */
  verify(assertion: string, audience: ServiceName): Promise<AssertionClaims>;
}

/** Verifies access tokens by auth's published keys. */
export interface AccessTokenKeys extends Droppable {
  /** @throws ConnectError unauthenticated, or unavailable where the keys cannot be fetched. */
  verify(token: string): Promise<AccessTokenClaims>;
}

/** Keeps the keys of assertions. */
export function createAssertionKeys(dispatch: Dispatch): AssertionKeys {
  const keys = new PublishedKeys("the caller assertion is not valid for this service", async (deadline) => {
    const { jwks } = await dispatch.unary(CredentialService.method.getAssertionKeys, {}, { credential: {}, deadline });
    return { jwks, issuer: "" };
  });
  return {
    drop: () => keys.drop(),
    verify: (assertion, audience) => keys.with(({ set }) => verifyAssertion(assertion, set, [audience])),
  };
}

/** Keeps the keys of access tokens. */
export function createAccessTokenKeys(dispatch: Dispatch): AccessTokenKeys {
  const keys = new PublishedKeys("the access token is not valid", (deadline) =>
    dispatch.unary(CredentialService.method.getAccessTokenKeys, {}, { credential: {}, deadline }),
  );
  return {
    drop: () => keys.drop(),
    verify: (token) => keys.with(({ set, issuer }) => verifyAccessToken(token, set, issuer)),
  };
}

/**
 * A key set, fetched by rpc and at most once at a time: jose's
 * createRemoteJWKSet fetches by HTTP, and refuses everybody while a refresh fails.
 */
class PublishedKeys implements Droppable {
  #keys: Published | undefined;
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #missedAt = Number.NEGATIVE_INFINITY;
  #fetching: Promise<void> | undefined;
  #drops = 0;

  /** @param refusal the sentence for what no published key has signed. */
  constructor(
    private readonly refusal: string,
    private readonly ask: (deadline: number) => Promise<{ readonly jwks: string; readonly issuer: string }>,
  ) {}

  drop(): void {
    this.#drops++;
    this.#keys = undefined;
    this.#fetching = undefined;
  }

  /**
   * Verifies something by the keys, which are fetched once more if they lack the one that signed.
   *
   * @param verify throws jose's JWKSNoMatchingKey if they do.
   */
  async with<T>(verify: (keys: Published) => Promise<T>): Promise<T> {
    const used = await this.#current();
    try {
      return await verify(used);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      if (this.#keys === used && !(await this.#missed())) throw unauthenticated(this.refusal, error);
      try {
        return await verify(await this.#current());
      } catch (again) {
        throw unauthenticated(this.refusal, again);
      }
    }
  }

  async #current(): Promise<Published> {
    const isOld = performance.now() - this.#fetchedAt > KEYS_FRESH_MS;
    // Old keys still verify; a failed refresh is no reason to refuse anybody.
    if (this.#keys !== undefined && isOld) await this.#fetchOnce().catch(() => undefined);
    while (this.#keys === undefined) await this.#fetchOnce();
    return this.#keys;
  }

  /** Fetches the keys because they lack one; false where that was done a moment ago. */
  async #missed(): Promise<boolean> {
    if (this.#fetching === undefined) {
      if (performance.now() - this.#missedAt < KEYS_COOLDOWN_MS) return false;
      this.#missedAt = performance.now();
    }
    await this.#fetchOnce();
    return true;
  }

  #fetchOnce(): Promise<void> {
    if (this.#fetching !== undefined) return this.#fetching;
    const mine = this.#fetch().finally(() => {
      if (this.#fetching === mine) this.#fetching = undefined;
    });
    this.#fetching = mine;
    return mine;
  }

  async #fetch(): Promise<void> {
    const drops = this.#drops;
    const { jwks, issuer } = await this.ask(Date.now() + DEADLINE_MS);
    // Asked for before the revocation, the answer may have the key that was revoked.
    if (drops !== this.#drops) return;
    this.#keys = { set: createLocalJWKSet(JSON.parse(jwks)), issuer };
    this.#fetchedAt = performance.now();
  }
}
