import type { MessageInitShape } from "@bufbuild/protobuf";
import type { RevokeApiKeyRequest, RevokeApiKeyResponseSchema } from "#proto/auth/v1/api_key_service_pb.js";
import { EventKind } from "#proto/auth/v1/watch_service_pb.js";
import type { Call, Caller } from "../../shared/rpc/call.js";
import { notFound, permissionDenied } from "../../shared/rpc/errors.js";
import type { Context } from "../context.js";
import type { AuthStore } from "../store.js";

/** Revokes a key of the caller, or for administrators anybody's; answers when no process accepts it any more. */
export async function revokeApiKey(
  { store, hub }: Context,
  { id }: RevokeApiKeyRequest,
  { caller }: Call,
): Promise<MessageInitShape<typeof RevokeApiKeyResponseSchema>> {
  await refuseNarrowed(store, caller, id);
  const mine = caller.scopes.has("admin") ? { _id: id } : { _id: id, user_id: caller.id };
  const { matchedCount } = await store.keys.updateOne(
    { ...mine, revoked_at: null },
    { $set: { revoked_at: new Date() } },
  );
  if (matchedCount === 0 && (await store.keys.findOne(mine)) === null) {
    throw notFound(`there is no API key ${JSON.stringify(id)} of yours`);
  }
  // Also where it was revoked before: whoever did that may not have lived to tell the watchers.
  const { acknowledged, expired } = await hub.publish([{ kind: EventKind.KEY, id }]);
  return { acknowledged, expired };
}

/** A key that was narrowed may end itself, and others only with the scope `account`. */
async function refuseNarrowed({ keys }: AuthStore, { keyId }: Caller, id: string): Promise<void> {
  if (keyId === "" || keyId === id) return;
  const own = await keys.findOne({ _id: keyId });
  if (own === null || own.scopes === null || own.scopes.includes("account")) return;
  throw permissionDenied(
    "this API key was narrowed to other scopes: revoke others with one that holds the scope account",
  );
}
