import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { AuditKind } from "#proto/auth/v1/audit_service_pb.js";
import type { VerifyCredentialRequest, VerifyCredentialResponseSchema } from "#proto/auth/v1/credential_service_pb.js";
import { sessionIdOf, sessionIn } from "../../shared/credentials/session.js";
import type { Caller } from "../../shared/rpc/call.js";
import { ASSERTION_TTL_S } from "../assertion-mint.js";
import { callerOfKey } from "../authenticator.js";
import type { Context } from "../context.js";
import type { ExternalCredentials } from "../external/credentials.js";
import { callerOf, emailOf, identityOf } from "../identity.js";
import { isAccessToken, verifyToken } from "../oauth/access-tokens.js";
import { scopesOf, scopesOfGrant } from "../scopes.js";
import { mustChangePassword } from "../sign-in/sessions.js";
import type { RefusedKey } from "../verification.js";

/**
 * Verifies an API key, an access token or a session, and mints the assertions of whom it stands for.
 *
 * @param external takes access tokens of an authorization server of others; undefined if ours issues them.
 */
export async function verifyCredential(
  context: Context,
  { token }: VerifyCredentialRequest,
  external: ExternalCredentials | undefined,
): Promise<MessageInitShape<typeof VerifyCredentialResponseSchema>> {
  const presented = await presentedBy(context, token, external);
  if ("refused" in presented) {
    const { refused: reason, rememberMs, credentialId } = presented;
    if (credentialId !== undefined) await noteEnded(context, credentialId, reason);
    return { outcome: { case: "refused", value: { reason, rememberMs } } };
  }
  const { caller, seq, endsAt, resource } = presented;
  const expiresAt = assertionEndOf(endsAt);
  return {
    outcome: {
      case: "verified",
      value: {
        caller: identityOf(caller),
        assertions: await context.assertions.mintAll(caller, seq, expiresAt),
        assertionsExpireAt: timestampFromMs(expiresAt * 1000),
        ...(endsAt !== null && { credentialExpiresAt: timestampFromDate(endsAt) }),
        seq: BigInt(seq),
        resource,
      },
    },
  };
}

/** A credential that is good. */
interface Presented {
  readonly caller: Caller;
  readonly seq: number;
  /** null for never. */
  readonly endsAt: Date | null;
  /** "" where it is good at every door. */
  readonly resource: string;
}

/** One that is not, with the id of what it was once; undefined where it was nothing. */
type Refused = RefusedKey & { readonly credentialId: string | undefined };

function presentedBy(
  context: Context,
  token: string,
  external: ExternalCredentials | undefined,
): Promise<Presented | Refused> {
  const session = sessionIn(token);
  if (session !== undefined) return ofSession(context, session);
  if (external?.reads(token)) return ofExternal(external, token);
  return isAccessToken(token) ? ofToken(context, token) : ofKey(context, token);
}

async function ofExternal(external: ExternalCredentials, token: string): Promise<Presented | Refused> {
  const found = await external.verify(token);
  if ("refused" in found) return { ...found, credentialId: undefined };
  const { user, grant, scopes, seq, endsAt } = found;
  return { caller: callerOf(user, scopesOfGrant(user, { scopes }), grant._id), seq, endsAt, resource: grant.resource };
}

/** A person who must choose a new password does nothing else before. */
async function ofSession({ sessions, verification }: Context, value: string): Promise<Presented | Refused> {
  const found = await sessions.of(value);
  if (found === undefined || mustChangePassword(found))
    return { refused: "unknown", rememberMs: 0, credentialId: undefined };
  const id = sessionIdOf(value);
  const now = await verification.currentSession(id, found.user._id);
  if ("refused" in now) return { ...now, credentialId: undefined };
  const { user, session, seq } = now;
  return { caller: callerOf(user, scopesOf(user), id), seq, endsAt: session.expires_at, resource: "" };
}

async function ofKey({ verification, format }: Context, token: string): Promise<Presented | Refused> {
  const found = await verification.verify(token);
  if ("refused" in found) return { ...found, credentialId: format.parse(token)?.keyId };
  return { caller: callerOfKey(found), seq: found.seq, endsAt: found.key.expires_at, resource: "" };
}

async function ofToken({ verification, accessRing, issuer }: Context, token: string): Promise<Presented | Refused> {
  const found = await verifyToken(token, { ring: accessRing, issuer, verification });
  // Only a signature of ours says which grant it was.
  if ("refused" in found) return { ...found, credentialId: undefined };
  const { user, grant, claims, seq } = found;
  const caller = callerOf(user, scopesOfGrant(user, grant), grant._id);
  return { caller, seq, endsAt: new Date(claims.exp * 1000), resource: grant.resource };
}

/** Seconds since the epoch: no assertion outlives the credential that it was minted for. */
function assertionEndOf(endsAt: Date | null): number {
  const end = Math.floor(Date.now() / 1000) + ASSERTION_TTL_S;
  return endsAt === null ? end : Math.min(end, Math.ceil(endsAt.getTime() / 1000));
}

/** Why a key that was good once is refused. Any text can be a key that never was: those are not written down. */
const ENDED: ReadonlySet<string> = new Set(["revoked", "expired", "disabled"]);

/** Who still presents a key that has ended is worth knowing: it was not taken out of some client, or somebody has it. */
async function noteEnded({ auditor, store }: Context, keyId: string, reason: string): Promise<void> {
  if (auditor === undefined || !ENDED.has(reason)) return;
  const key = await store.keys.findOne({ _id: keyId });
  const user = key && (await store.users.findOne({ _id: key.user_id }));
  auditor.note({
    kind: AuditKind.REFUSAL,
    userId: key?.user_id ?? "",
    userEmail: user ? emailOf(user) : "",
    keyId,
    action: "auth.v1.CredentialService/VerifyCredential",
    target: keyId,
    outcome: `key_${reason}`,
    count: 1,
  });
}
