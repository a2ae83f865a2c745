import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { AuditKind } from "#proto/auth/v1/audit_service_pb.js";
import type { VerifyCredentialRequest, VerifyCredentialResponseSchema } from "#proto/auth/v1/credential_service_pb.js";
import { ASSERTION_TTL_S } from "../assertion-mint.js";
import { callerOfKey } from "../authenticator.js";
import type { Context } from "../context.js";
import { emailOf, identityOf } from "../identity.js";
import type { ApiKeyRecord } from "../store.js";

/** Verifies an API key and mints the assertions of whom it stands for. */
export async function verifyCredential(
  context: Context,
  { token }: VerifyCredentialRequest,
): Promise<MessageInitShape<typeof VerifyCredentialResponseSchema>> {
  const { verification, assertions } = context;
  const found = await verification.verify(token);
  if ("refused" in found) {
    const { refused: reason, rememberMs } = found;
    await noteEnded(context, token, reason);
    return { outcome: { case: "refused", value: { reason, rememberMs } } };
  }
  const caller = callerOfKey(found);
  const expiresAt = assertionEndOf(found.key);
  return {
    outcome: {
      case: "verified",
      value: {
        caller: identityOf(caller),
        assertions: await assertions.mintAll(caller, found.seq, expiresAt),
        assertionsExpireAt: timestampFromMs(expiresAt * 1000),
        ...(found.key.expires_at !== null && { credentialExpiresAt: timestampFromDate(found.key.expires_at) }),
        seq: BigInt(found.seq),
      },
    },
  };
}

/** Seconds since the epoch: no assertion outlives the key that it was minted for. */
function assertionEndOf({ expires_at: expiresAt }: ApiKeyRecord): number {
  const end = Math.floor(Date.now() / 1000) + ASSERTION_TTL_S;
  return expiresAt === null ? end : Math.min(end, Math.ceil(expiresAt.getTime() / 1000));
}

/** Why a key that was good once is refused. Any text can be a key that never was: those are not written down. */
const ENDED: ReadonlySet<string> = new Set(["revoked", "expired", "disabled"]);

/** Who still presents a key that has ended is worth knowing: it was not taken out of some client, or somebody has it. */
async function noteEnded({ auditor, format, store }: Context, token: string, reason: string): Promise<void> {
  const keyId = format.parse(token)?.keyId;
  if (auditor === undefined || keyId === undefined || !ENDED.has(reason)) return;
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
