import type { MessageInitShape } from "@bufbuild/protobuf";
import type { RevokeApiKeyRequest, RevokeApiKeyResponseSchema } from "#proto/auth/v1/api_key_service_pb.js";
import { EventKind } from "#proto/auth/v1/watch_service_pb.js";
import type { Call, Caller } from "../../shared/rpc/call.js";
import { notFound, permissionDenied } from "../../shared/rpc/errors.js";
import type { Context } from "../context.js";
import { schedulesOf } from "../delegations.js";
import { narrowedKeyOf } from "../key-owner.js";
import type { AuthStore } from "../store.js";
import type { Published } from "../watch-hub.js";

/** Revokes a key of the caller, or for administrators anybody's; answers when no process accepts it any more. */
export async function revokeApiKey(
  { store, hub }: Context,
  { id }: Pick<RevokeApiKeyRequest, "id">,
  { caller }: Call,
): Promise<MessageInitShape<typeof RevokeApiKeyResponseSchema>> {
  await refuseNarrowed(store, caller, id);
  const mine = caller.scopes.has("admin") ? { _id: id } : { _id: id, user_id: caller.id };
  const { matchedCount } = await store.keys.updateOne(
    { ...mine, revoked_at: null },
    { $set: { revoked_at: new Date() } },
  );
  if (matchedCount === 0 && (await store.keys.findOne(mine)) === null)
    throw notFound(`no API key that you can manage has the id ${JSON.stringify(id)}`);
  // Where it was revoked before, the process that did it may not have lived to tell the watchers.
  return outcomeOf(store, await hub.publish([{ kind: EventKind.KEY, id }]), caller, id);
}

/** Names what the key had begun on a schedule; to administrators the schedules of others by their ids alone. */
async function outcomeOf(
  store: AuthStore,
  { acknowledged, expired }: Published,
  caller: Caller,
  id: string,
): Promise<MessageInitShape<typeof RevokeApiKeyResponseSchema>> {
  const { schedules, more } = await schedulesOf(store, id);
  const isMine = schedules.length > 0 && (await store.keys.findOne({ _id: id }))?.user_id === caller.id;
  const shown = schedules.map((one) => (isMine ? one : { id: one.id }));
  return { acknowledged, expired, schedules: shown, moreSchedules: more };
}

/** A key that was narrowed may end itself, and others only with the scope `account`. */
async function refuseNarrowed(store: AuthStore, caller: Caller, id: string): Promise<void> {
  if (caller.keyId === id || (await narrowedKeyOf(store, caller)) === undefined) return;
  throw permissionDenied("this API key has limited scopes: to revoke other keys, use a key that has the scope account");
}
