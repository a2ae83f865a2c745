import type { MessageInitShape } from "@bufbuild/protobuf";
import type { UpdateApiKeyRequest, UpdateApiKeyResponseSchema } from "#proto/auth/v1/api_key_service_pb.js";
import { EventKind } from "#proto/auth/v1/watch_service_pb.js";
import { dateOf } from "../../shared/dates.js";
import type { Call } from "../../shared/rpc/call.js";
import { failedPrecondition, invalidArgument } from "../../shared/rpc/errors.js";
import type { Context } from "../context.js";
import { keyOf } from "../key-owner.js";
import { withinOwnLife } from "../new-key.js";
import { apiKeyOf, findUser } from "../records.js";

const REVOKED = "the key was revoked: create a new one";

/** Gives a key of the caller, or for administrators anybody's, another expiry; answers when every process knows. */
export async function updateApiKey(
  context: Context,
  { id, expiresAt }: UpdateApiKeyRequest,
  call: Call,
): Promise<MessageInitShape<typeof UpdateApiKeyResponseSchema>> {
  const { store, hub } = context;
  const found = await keyOf(store, id, call.caller);
  const asked = expiresAt === undefined ? null : dateOf(expiresAt);
  if (asked !== null && asked.getTime() <= Date.now()) {
    throw invalidArgument("expires_at is in the past: revoke the key to end it now");
  }
  if (found.revoked_at !== null) throw failedPrecondition(REVOKED);
  const ends = await withinOwnLife(context, asked, call);
  const key = await store.keys.findOneAndUpdate(
    { _id: id, revoked_at: null },
    { $set: { expires_at: ends } },
    { returnDocument: "after" },
  );
  if (key === null) throw failedPrecondition(REVOKED);
  // An event of the key would say that it was revoked.
  await hub.publish([{ kind: EventKind.USER, id: key.user_id }]);
  return { key: apiKeyOf(key, await findUser(store, key.user_id, "")) };
}
