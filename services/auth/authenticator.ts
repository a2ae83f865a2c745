import { errors } from "jose";
import { LRUCache } from "lru-cache";
import { bearerOf, known, refusalOf } from "../shared/credentials/assertions.js";
import { type AssertionClaims, callerOfClaims } from "../shared/credentials/assertions-claims.js";
import type { UsageCounter } from "../shared/credentials/usage.js";
import { verifyAssertion } from "../shared/credentials/verify-assertion.js";
import type { Authenticated, Authenticator, Caller } from "../shared/rpc/call.js";
import { unauthenticated } from "../shared/rpc/errors.js";
import { callerOf } from "./identity.js";
import type { KeyRing } from "./key-ring.js";
import { DELEGATED, scopesOf, scopesOfGrant, scopesOfKey } from "./scopes.js";
import { accountCallerNow } from "./service-accounts/acting.js";
import type { ApiKeyRecord } from "./store.js";
import type {
  KeyVerification,
  RefusedKey,
  VerifiedGrant,
  VerifiedKey,
  VerifiedSession,
  VerifiedUser,
} from "./verification.js";

const KEPT = 20_000;

/** Establishes who calls auth itself, from its own records: no lease is needed. */
export function createAuthAuthenticator(
  verification: KeyVerification,
  ring: KeyRing,
  usage: UsageCounter,
): Authenticator {
  const verified = new LRUCache<string, { readonly claims: AssertionClaims; readonly revision: number }>({ max: KEPT });

  async function claimsOf(assertion: string): Promise<AssertionClaims> {
    const revision = await ring.revision();
    const kept = verified.get(assertion);
    if (kept?.revision === revision && (kept.claims.exp as number) * 1000 > Date.now()) return kept.claims;
    const claims = await verifyOwn(assertion, ring, ["auth"]);
    verified.set(assertion, { claims, revision });
    return claims;
  }

  async function fromAssertion(assertion: string): Promise<Authenticated> {
    const claims = await claimsOf(assertion);
    const { caller } = await currentCaller(claims, verification);
    return { caller, assertion, expiresAt: (claims.exp as number) * 1_000 };
  }

  async function fromKey(token: string): Promise<Authenticated> {
    const found = await verification.verify(token);
    if ("refused" in found) throw refusalOf(found);
    usage.use(usage.of(found.key._id), Date.now());
    return { caller: callerOfKey(found), assertion: "", expiresAt: found.key.expires_at?.getTime() };
  }

  return {
    authenticate({ assertion, authorization }) {
      return known(assertion === undefined ? fromKey(bearerOf(authorization)) : fromAssertion(assertion));
    },
  };
}

/** The caller that a verified key stands for. */
export function callerOfKey({ user, key }: VerifiedKey): Caller {
  return callerOf(user, scopesOfKey(user, key), key._id);
}

/**
 * The caller of an assertion as the records stand now, never with more than the
 * assertion said.
 *
 * @throws ConnectError unauthenticated, where the key or the user is no longer good.
 */
export async function currentCaller(
  claims: AssertionClaims,
  verification: KeyVerification,
): Promise<{ readonly caller: Caller; readonly seq: number }> {
  const said = callerOfClaims(claims).scopes;
  const { caller, seq } = await (claims.account === undefined
    ? callerNow(claims.sub, claims.key, said, verification)
    : accountCallerNow(claims.account.id, claims.sub, verification));
  const scopes = said.has(DELEGATED) ? new Set([...caller.scopes, DELEGATED]) : caller.scopes;
  // What a run calls stays the run's, however many services it passes.
  return { caller: { ...caller, scopes, ...(claims.run !== undefined && { run: claims.run }) }, seq };
}

/**
 * The caller that a user is now, with what the key gives of these scopes.
 *
 * @param keyId "" for who acts without one.
 * @throws ConnectError unauthenticated, where the key or the user is no longer good.
 */
export async function callerNow(
  userId: string,
  keyId: string,
  scopes: ReadonlySet<string>,
  verification: KeyVerification,
): Promise<{ readonly caller: Caller; readonly seq: number }> {
  const found = await behind(keyId, userId, verification);
  if ("refused" in found) throw refusalOf(found);
  const held = heldBy(found);
  const left = new Set([...held].filter((scope) => scopes.has(scope)));
  return { caller: callerOf(found.user, left, keyId), seq: found.seq };
}

type Found = VerifiedUser | VerifiedKey | VerifiedGrant | VerifiedSession;

/** What a caller came with, as it stands now: a grant where there is no key of that id, and a session where there is neither. */
async function behind(keyId: string, userId: string, verification: KeyVerification): Promise<Found | RefusedKey> {
  if (keyId === "") return verification.currentUser(userId);
  const key = await verification.current(keyId, userId);
  if (!isUnknown(key)) return key;
  const grant = await verification.currentGrant(keyId, userId);
  return isUnknown(grant) ? verification.currentSession(keyId, userId) : grant;
}

function isUnknown(found: Found | RefusedKey): boolean {
  return "refused" in found && found.refused === "unknown";
}

function heldBy(found: Found): ReadonlySet<string> {
  if ("key" in found) return scopesOfKey(found.user, found.key as ApiKeyRecord);
  return "grant" in found ? scopesOfGrant(found.user, found.grant) : scopesOf(found.user);
}

/** @throws ConnectError unauthenticated, for any assertion that this ring did not sign for one of the audiences. */
export async function verifyOwn(
  assertion: string,
  ring: KeyRing,
  audiences: Parameters<typeof verifyAssertion>[2],
): Promise<AssertionClaims> {
  try {
    return await verifyAssertion(assertion, ring.verifier(), audiences);
  } catch (error) {
    if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
    throw unauthenticated("the caller assertion is not valid for this service", error);
  }
}
