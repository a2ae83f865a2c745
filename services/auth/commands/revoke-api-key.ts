import type { MessageInitShape } from "@bufbuild/protobuf";
import type { RevokeApiKeyRequest, RevokeApiKeyResponseSchema } from "#proto/auth/v1/api_key_service_pb.js";
import { EventKind } from "#proto/auth/v1/watch_service_pb.js";
import type { Call, Caller } from "../../shared/rpc/call.js";
import { notFound, permissionDenied } from "../../shared/rpc/errors.js";
import type { Context } from "../context.js";
import { replaced } from "../fence.js";
import { narrowedKeyOf } from "../key-owner.js";
import type { AuthStore } from "../store.js";
import type { Published } from "../watch-hub.js";

/** Revokes a key of the caller, or for administrators anybody's; answers when no process accepts it any more. */
export async function revokeApiKey(
  { store, hub, fence }: Context,
  { id }: RevokeApiKeyRequest,
  { caller }: Call,
): Promise<MessageInitShape<typeof RevokeApiKeyResponseSchema>> {
  await refuseNarrowed(store, caller, id);
  const mine = caller.scopes.has("admin") ? { _id: id } : { _id: id, user_id: caller.id };
  const { matchedCount } = await store.keys.updateOne(
    { ...mine, ...fence.unclaimed, revoked_at: null },
    { $set: { revoked_at: new Date() } },
  );
  const events = [{ kind: EventKind.KEY, id }];
  // It is revoked for every process, whichever leads by now.
  if (matchedCount > 0) return outcomeOf(await hub.tell(events));
  const found = await store.keys.findOne(mine);
  if (found === null) throw notFound(`there is no API key ${JSON.stringify(id)} of yours`);
  if (found.revoked_at === null) throw replaced();
  // It was revoked before: whoever did that may not have lived to tell the watchers.
  return outcomeOf(await hub.publish(events));
}

function outcomeOf({ acknowledged, expired }: Published): MessageInitShape<typeof RevokeApiKeyResponseSchema> {
  return { acknowledged, expired };
}

/** A key that was narrowed may end itself, and others only with the scope `account`. */
async function refuseNarrowed(store: AuthStore, caller: Caller, id: string): Promise<void> {
  if (caller.keyId === id || (await narrowedKeyOf(store, caller)) === undefined) return;
  throw permissionDenied(
    "this API key was narrowed to other scopes: revoke others with one that holds the scope account",
  );
}
