import type { MessageShape } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import {
  type CallerIdentitySchema,
  CredentialService,
  type VerifiedCaller,
} from "#proto/auth/v1/credential_service_pb.js";
import type { Log } from "../process/log.js";
import { askWithin } from "../rpc/ask.js";
import type { Caller, Credential } from "../rpc/call.js";
import type { Dispatch } from "../rpc/dispatch.js";
import type { Known, Refusal } from "./known.js";

/** What auth says of a token that it accepts. */
export interface Verified {
  readonly known: Known;
  /** The last event that auth had taken account of. */
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly assertionsUntil: number;
}

/** A refusal, and for how long it may be remembered, in milliseconds. */
export interface RememberedRefusal extends Refusal {
  readonly rememberMs: number;
}

const REASONS: ReadonlySet<string> = new Set<Refusal["refused"]>([
  "malformed",
  "unknown",
  "expired",
  "revoked",
  "throttled",
  "disabled",
]);

/** The way to auth, and as whom. */
export interface VerificationRequestOptions {
  readonly dispatch: Dispatch;
  readonly credential: Credential;
  readonly log: Log;
}

/**
 * Asks auth who a token stands for. What cannot be verified is refused, as
 * `unavailable`: never a yes that nobody gave, and never a no.
 *
 * @param waitMs how long the answer may take.
 */
export async function requestVerification(
  { dispatch, credential, log }: VerificationRequestOptions,
  token: string,
  waitMs: number,
): Promise<Verified | RememberedRefusal> {
  try {
    const { outcome } = await askWithin(waitMs, (deadline) =>
      dispatch.unary(CredentialService.method.verifyCredential, { token }, { credential, deadline }),
    );
    if (outcome.case === "verified") return verifiedOf(outcome.value);
    if (outcome.case === undefined) return { refused: "unavailable", rememberMs: 0 };
    const { reason, rememberMs } = outcome.value;
    return { refused: REASONS.has(reason) ? (reason as Refusal["refused"]) : "unknown", rememberMs };
  } catch (error) {
    log.warn({ err: error }, "a credential cannot be verified");
    return { refused: "unavailable", rememberMs: 0 };
  }
}

function verifiedOf(verified: VerifiedCaller): Verified {
  const { caller, assertions, assertionsExpireAt, credentialExpiresAt, seq, resource } = verified;
  const assertionsUntil = assertionsExpireAt === undefined ? 0 : timestampMs(assertionsExpireAt);
  const credentialUntil =
    credentialExpiresAt === undefined ? Number.POSITIVE_INFINITY : timestampMs(credentialExpiresAt);
  return {
    known: {
      caller: callerOf(caller as MessageShape<typeof CallerIdentitySchema>),
      assertions,
      resource: resource === "" ? undefined : resource,
      expiresAt: Math.min(assertionsUntil, credentialUntil),
    },
    seq: Number(seq),
    assertionsUntil,
  };
}

function callerOf(identity: MessageShape<typeof CallerIdentitySchema>): Caller {
  const { id, email, name, admin, groups, scopes, keyId, service } = identity;
  return { id, email, name, admin, groups, scopes: new Set(scopes), keyId, service };
}
