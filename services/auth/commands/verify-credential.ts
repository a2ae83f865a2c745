import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { VerifyCredentialRequest, VerifyCredentialResponseSchema } from "#proto/auth/v1/credential_service_pb.js";
import { ASSERTION_TTL_S } from "../assertion-mint.js";
import { callerOfKey } from "../authenticator.js";
import type { Context } from "../context.js";
import { identityOf } from "../identity.js";
import type { ApiKeyRecord } from "../store.js";

/** Verifies an API key and mints the assertions of whom it stands for. */
export async function verifyCredential(
  { verification, assertions }: Context,
  { token }: VerifyCredentialRequest,
): Promise<MessageInitShape<typeof VerifyCredentialResponseSchema>> {
  const found = await verification.verify(token);
  if ("refused" in found) {
    const { refused: reason, rememberMs } = found;
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
