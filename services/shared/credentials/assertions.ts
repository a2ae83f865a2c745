import { createLocalJWKSet, errors, jwtVerify } from "jose";
import { CredentialService } from "#proto/auth/v1/credential_service_pb.js";
import type { Authenticated, Authenticator, Credential } from "../rpc/call.js";
import type { Dispatch } from "../rpc/dispatch.js";
import { resourceExhausted, unauthenticated, unavailable } from "../rpc/errors.js";
import type { ServiceName } from "../rpc/service.js";
import { ASSERTION_ISSUER, ASSERTION_TYPE, type AssertionClaims, callerOfClaims } from "./assertions-claims.js";
import type { Credentials, Refusal } from "./credentials.js";
import type { Vouched } from "./lease-standing.js";

export interface AssertionVerifierOptions {
  /** The audience this service accepts. */
  readonly service: ServiceName;
  readonly credentials: Credentials;
  readonly dispatch: Dispatch;
  /** This process's own credential, with the scope `internal`. */
  readonly credential: Credential;
}

interface Checked extends Authenticated, Vouched {
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

const KEPT = 20_000;
const DEADLINE_MS = 2_000;
/** Keys are published ten minutes before they sign; fetched at half of that, no new one is ever unknown. */
const KEYS_FRESH_MS = 5 * 60_000;
const KEYS_COOLDOWN_MS = 10_000;
const CLOCK_TOLERANCE_S = 5;

/**
 * Establishes who calls a service: by a caller assertion, or by an API key in
 * `authorization`. Both meet the revocation promise: a dead key is refused, and
 * while this process has no lease auth is asked about every call.
 */
export function createAssertionVerifier(options: AssertionVerifierOptions): Authenticator {
  const { service, credentials, dispatch, credential } = options;
  const checked = new Map<string, Checked>();
  const keys = createKeySource(dispatch);

  async function verified(assertion: string): Promise<Checked> {
    const found = checked.get(assertion);
    if (found !== undefined && found.expiresAt > Date.now()) return found;
    const claims = await keys.verify(assertion, service);
    const entry: Checked = {
      caller: callerOfClaims(claims),
      assertion,
      keyId: claims.key,
      userId: claims.sub,
      seq: claims.seq,
      expiresAt: (claims.exp as number) * 1000,
    };
    if (checked.size >= KEPT) checked.delete(checked.keys().next().value as string);
    checked.set(assertion, entry);
    return entry;
  }

  /** Has auth say again who an assertion stands for; it refuses what was revoked since. */
  async function renewed({ assertion }: Checked): Promise<Checked> {
    const out = { credential, deadline: Date.now() + DEADLINE_MS };
    const request = { subjectToken: assertion, audience: service };
    const answer = await dispatch.unary(CredentialService.method.exchangeAssertion, request, out);
    return verified(answer.assertion);
  }

  async function fromAssertion(assertion: string): Promise<Authenticated> {
    const found = await verified(assertion);
    const standing = credentials.standing(found);
    if (standing === "dead") throw revoked();
    if (standing === "good" && credentials.leased()) return found;
    const again = await renewed(found);
    if (credentials.standing(again) === "dead") throw revoked();
    return again;
  }

  async function fromKey(token: string): Promise<Authenticated> {
    const known = await credentials.verify(token);
    if ("refused" in known) throw refusalOf(known);
    return { caller: known.caller, assertion: known.assertions[service] ?? "" };
  }

  return {
    authenticate({ assertion, authorization }) {
      if (assertion !== undefined) {
        const found = checked.get(assertion);
        const usable = found !== undefined && found.expiresAt > Date.now() && credentials.leased();
        return usable && credentials.standing(found) === "good" ? found : fromAssertion(assertion);
      }
      const token = bearerOf(authorization);
      const known = credentials.peek(token);
      return known === undefined
        ? fromKey(token)
        : { caller: known.caller, assertion: known.assertions[service] ?? "" };
    },
  };
}

/**
 * The token of an authorization header.
 *
 * @throws ConnectError unauthenticated, for a missing header or another scheme.
 */
export function bearerOf(authorization: string | undefined): string {
  if (authorization === undefined) {
    throw unauthenticated("nobody is signed in: present an API key as `authorization: Bearer <key>`");
  }
  const [, token] = /^bearer +([^\s]+)$/i.exec(authorization) ?? [];
  if (token === undefined) throw unauthenticated("the authorization header has to read `Bearer <key>`");
  return token;
}

/** A refusal as the error that a caller of a service gets. */
export function refusalOf({ refused }: Refusal): Error {
  switch (refused) {
    case "unavailable":
      return unavailable("credentials cannot be verified at the moment: try again shortly");
    case "throttled":
      return resourceExhausted("too many credentials are being verified: try again shortly");
    case "revoked":
      return revoked();
    case "expired":
      return unauthenticated("the API key has expired: create a new one");
    case "disabled":
      return unauthenticated("the user of this API key is disabled: ask an administrator");
    default:
      return unauthenticated("the API key is not valid: check that it is complete, or create a new one");
  }
}

const revoked = () => unauthenticated("the API key was revoked: create a new one");

/**
 * Verifies the signature and claims of an assertion with keys from somewhere.
 *
 * @throws ConnectError unauthenticated.
 */
export async function verifyAssertion(
  assertion: string,
  key: ReturnType<typeof createLocalJWKSet>,
  audiences: readonly ServiceName[],
): Promise<AssertionClaims> {
  try {
    const { payload } = await jwtVerify<AssertionClaims>(assertion, key, {
      issuer: ASSERTION_ISSUER,
      audience: [...audiences],
      algorithms: ["EdDSA"],
      typ: ASSERTION_TYPE,
      requiredClaims: ["sub", "iat", "exp", "seq"],
      clockTolerance: CLOCK_TOLERANCE_S,
    });
    if (typeof payload.aud !== "string") throw new errors.JWTInvalid("one audience only");
    return payload;
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) throw error;
    throw unauthenticated("the caller assertion is not valid here", error);
  }
}

function createKeySource(dispatch: Dispatch) {
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
    async verify(assertion: string, audience: ServiceName): Promise<AssertionClaims> {
      try {
        return await verifyAssertion(assertion, await current(), [audience]);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
        if (performance.now() - fetchedAt < KEYS_COOLDOWN_MS) {
          throw unauthenticated("the caller assertion is not valid here", error);
        }
        await fetchOnce();
        try {
          return await verifyAssertion(assertion, set as NonNullable<typeof set>, [audience]);
        } catch (again) {
          throw unauthenticated("the caller assertion is not valid here", again);
        }
      }
    },
  };
}
