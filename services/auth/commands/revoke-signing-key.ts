import type { MessageInitShape } from "@bufbuild/protobuf";
import type { RevokeSigningKeyRequest, RevokeSigningKeyResponseSchema } from "#proto/auth/v1/key_ring_service_pb.js";
import { EventKind } from "#proto/auth/v1/watch_service_pb.js";
import type { Context } from "../context.js";
import { ringOf, signingKeyOf } from "../signing-keys.js";
import type { RingName } from "../store.js";

/** Revokes a signing key; answers when no process accepts what it signed. */
export async function revokeSigningKey(
  context: Context,
  { ring: name, kid }: RevokeSigningKeyRequest,
): Promise<MessageInitShape<typeof RevokeSigningKeyResponseSchema>> {
  const ring = ringOf(context, name);
  await ring.revoke(kid);
  // One that was revoked before is told again: the process that did it may not have lived to tell the watchers.
  const { acknowledged, expired } = await context.hub.publish([{ kind: EventKind.KEY_RING, id: ring.name }]);
  const signing = (await ring.list()).find(({ state }) => state === "signing");
  return {
    ...(signing !== undefined && { signing: signingKeyOf(signing) }),
    acknowledged,
    expired,
    consequences: CONSEQUENCES[ring.name],
  };
}

/** What is outside this service is not told: it goes by what it keeps. */
const CONSEQUENCES: Readonly<Record<RingName, string>> = {
  access:
    "This service refuses access tokens that the key signed. Clients get new ones with their refresh tokens, without a sign-in.",
  assertion: "Only processes of this service verify these signatures, and they refuse them now. Nothing else is to do.",
  platform:
    "Platforms keep the published keys for up to one hour, and proxies for up to 5 minutes: until then they accept tokens that the key signed. Restart the platforms now to shorten that.",
};
