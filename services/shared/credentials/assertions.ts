import { Code, ConnectError } from "@connectrpc/connect";
import { CredentialService } from "#proto/auth/v1/credential_service_pb.js";
import { askWithin } from "../rpc/ask.js";
import type { Authenticated, Authenticator, Credential } from "../rpc/call.js";
import type { Dispatch } from "../rpc/dispatch.js";
import { resourceExhausted, unauthenticated, unavailable } from "../rpc/errors.js";
import type { ServiceName } from "../rpc/service.js";
import { callerOfClaims } from "./assertions-claims.js";
import type { Credentials } from "./credentials.js";
import type { Attested } from "./invalidations.js";
import type { Known, Refusal } from "./known.js";
import { createAssertionKeys } from "./published-keys.js";

/** What establishes the callers of one service. */
export interface AssertionVerifierOptions {
  /** The audience this service accepts. */
  readonly service: ServiceName;
  readonly credentials: Credentials;
  readonly dispatch: Dispatch;
  /** This process's own credential, with the scope `internal`. */
  readonly credential: Credential;
}

interface Checked extends Authenticated, Attested {
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** The ring whose keys sign assertions. */
const RING = "assertion";
const KEPT = 20_000;
/** Characters at an assertion's end, of its signature, by which it is looked up: the whole takes as long as a tenth of a call. */
const LOOKED_UP = 43;
const DEADLINE_MS = 2_000;

/**
 * Establishes who calls a service: by a caller assertion, or by an API key in
 * `authorization`. Both meet the revocation promise: a revoked key is refused, and
 * while this process has no lease auth is asked about every call.
 */
export function createAssertionVerifier(options: AssertionVerifierOptions): Authenticator {
  const { service, credentials, dispatch, credential } = options;
  // A plain map, and not an LRU: every call looks here.
  const checked = new Map<string, Checked>();
  const keyOf = (assertion: string): string => assertion.slice(-LOOKED_UP);
  const usable = (assertion: string): Checked | undefined => {
    const found = checked.get(keyOf(assertion));
    return found?.assertion === assertion && found.expiresAt > Date.now() ? found : undefined;
  };
  const keys = createAssertionKeys(dispatch);
  let drops = 0;

  // Nothing tells which assertion was a forgery: all are verified again, by keys that are fetched again.
  credentials.onEvent(({ kind, id }) => {
    if (kind !== "reset" && !(kind === "key_ring" && id === RING)) return;
    drops++;
    keys.drop();
    checked.clear();
  });

  async function verified(assertion: string): Promise<Checked> {
    const found = usable(assertion);
    if (found !== undefined) return found;
    const dropped = drops;
    const claims = await keys.verify(assertion, service);
    // It was verified by keys of before.
    if (dropped !== drops) return verified(assertion);
    const entry: Checked = {
      caller: callerOfClaims(claims),
      assertion,
      keyId: claims.key,
      userId: claims.sub,
      accountId: claims.account?.id,
      seq: claims.seq,
      expiresAt: (claims.exp as number) * 1000,
    };
    if (checked.size >= KEPT) checked.delete(checked.keys().next().value as string);
    checked.set(keyOf(assertion), entry);
    return entry;
  }

  /** Has auth say again who an assertion stands for; it refuses what was revoked since. */
  async function renewed({ assertion }: Checked): Promise<Checked> {
    const request = { subjectToken: assertion, audience: service };
    const answer = await askWithin(DEADLINE_MS, (deadline) =>
      dispatch.unary(CredentialService.method.exchangeAssertion, request, { credential, deadline }),
    );
    return verified(answer.assertion);
  }

  async function fromAssertion(assertion: string): Promise<Authenticated> {
    const found = await known(verified(assertion));
    const validity = credentials.validityOf(found);
    if (validity === "revoked") throw revoked();
    if (validity === "valid" && credentials.leased()) return found;
    const again = await known(renewed(found));
    if (credentials.validityOf(again) === "revoked") throw revoked();
    return again;
  }

  async function fromKey(token: string): Promise<Authenticated> {
    const found = await credentials.verify(token);
    if ("refused" in found) throw refusalOf(found);
    return presented(found);
  }

  function presented({ caller, assertions, expiresAt, resource }: Known): Authenticated {
    if (resource !== undefined) throw ofAnEndpoint();
    return { caller, assertion: assertions[service] ?? "", expiresAt };
  }

  return {
    authenticate({ assertion, authorization }) {
      if (assertion !== undefined) {
        const found = usable(assertion);
        const isGood = found !== undefined && credentials.leased() && credentials.validityOf(found) === "valid";
        return isGood ? found : fromAssertion(assertion);
      }
      const token = bearerOf(authorization);
      const found = credentials.peek(token);
      return found === undefined ? fromKey(token) : presented(found);
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
    throw unauthenticated("no API key was sent: send one as `authorization: Bearer <key>`");
  }
  const [, token] = /^bearer +([^\s]+)$/i.exec(authorization) ?? [];
  if (token === undefined) throw unauthenticated("the authorization header must be `Bearer <key>`");
  return token;
}

/**
 * What is known of a credential in the end. Only `unauthenticated` says anything
 * of it: whatever else went wrong on the way is `unavailable`.
 */
export async function known<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    const { code } = ConnectError.from(error);
    if (code === Code.Unauthenticated || code === Code.Unavailable) throw error;
    throw unavailable(UNVERIFIED, error);
  }
}

const UNVERIFIED = "credentials cannot be verified at the moment: try again in a few seconds";

/** A refusal as the error that a caller of a service gets. */
export function refusalOf({ refused }: Refusal): Error {
  switch (refused) {
    case "unavailable":
      return unavailable(UNVERIFIED);
    case "throttled":
      return resourceExhausted("too many credentials are being verified: try again in a few seconds");
    case "revoked":
      return revoked();
    case "expired":
      return unauthenticated("the API key has expired: create a new one");
    case "disabled":
      return unauthenticated("the user of this API key is disabled: ask an administrator to enable the user");
    default:
      return unauthenticated("the API key is not valid: check that it is complete, or create a new one");
  }
}

const ofAnEndpoint = () =>
  unauthenticated("an access token is good at its MCP endpoint only: send an API key as `authorization: Bearer <key>`");
const revoked = () => unauthenticated("the API key was revoked: create a new one");
