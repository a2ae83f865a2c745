import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { RotateApiKeyRequest, RotateApiKeyResponseSchema } from "#proto/auth/v1/api_key_service_pb.js";
import { EventKind } from "#proto/auth/v1/watch_service_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import { failedPrecondition } from "../../shared/rpc/errors.js";
import type { Context } from "../context.js";
import { keyOf } from "../key-owner.js";
import { makeKey, withinOwnLife } from "../new-key.js";
import { apiKeyOf, findUser } from "../records.js";
import { scopesOf, scopesOfNewKey } from "../scopes.js";
import type { ApiKeyRecord } from "../store.js";

/** Makes a key in place of another, which ends after the overlap; answers when every process knows. */
export async function rotateApiKey(
  context: Context,
  { id, overlapSeconds }: RotateApiKeyRequest,
  call: Call,
): Promise<MessageInitShape<typeof RotateApiKeyResponseSchema>> {
  const { store } = context;
  const old = await keyOf(store, id, call.caller);
  const now = Date.now();
  if (old.revoked_at !== null || (old.expires_at !== null && old.expires_at.getTime() <= now)) {
    throw failedPrecondition("the key has expired or was revoked: create a new one");
  }
  const owner = await findUser(store, old.user_id, "");
  const held = scopesOf(owner);
  const wanted = old.scopes?.filter((scope) => held.has(scope)) ?? [];
  const scopes = scopesOfNewKey(wanted, owner, owner._id === call.caller.id ? call.caller.scopes : held);
  const life = old.expires_at === null ? null : old.expires_at.getTime() - old.created_at.getTime();
  const expiresAt = await withinOwnLife(context, life === null ? null : new Date(now + life), call);
  const { key, token } = await makeKey(context, owner, { name: old.name, scopes, expiresAt });
  // What the old key set goes on with the new one, before the old one ends.
  await store.delegations.updateMany({ schedule_key: old._id }, { $set: { schedule_key: key._id } });
  const oldKeyEndsAt = await end(context, old, overlapSeconds);
  return { key: apiKeyOf(key, owner), token, oldKeyEndsAt: timestampFromDate(oldKeyEndsAt) };
}

/** Ends a key, now or later, but no later than it would have ended. */
async function end({ store, hub }: Context, key: ApiKeyRecord, afterSeconds: number): Promise<Date> {
  const asked = new Date(Date.now() + afterSeconds * 1_000);
  const ends = key.expires_at !== null && key.expires_at < asked ? key.expires_at : asked;
  const isNow = afterSeconds === 0;
  const change = isNow ? { revoked_at: ends } : { expires_at: ends };
  await store.keys.updateOne({ _id: key._id, revoked_at: null }, { $set: change });
  // An event of the key says that it was revoked; another end of it makes what is known of its user stale.
  await hub.publish([isNow ? { kind: EventKind.KEY, id: key._id } : { kind: EventKind.USER, id: key.user_id }]);
  return ends;
}
