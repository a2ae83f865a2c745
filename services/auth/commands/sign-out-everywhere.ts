import type { MessageInitShape } from "@bufbuild/protobuf";
import type { SignOutEverywhereRequest, SignOutEverywhereResponseSchema } from "#proto/auth/v1/session_service_pb.js";
import { EventKind } from "#proto/auth/v1/watch_service_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import { permissionDenied } from "../../shared/rpc/errors.js";
import type { Context } from "../context.js";
import { narrowedKeyOf, ownerOf } from "../key-owner.js";
import { endGrant } from "../oauth/grants.js";

/** Ends all sessions of a person, and if asked for everything else that calls in their name. */
export async function signOutEverywhere(
  context: Context,
  request: SignOutEverywhereRequest,
  call: Call,
): Promise<MessageInitShape<typeof SignOutEverywhereResponseSchema>> {
  const { store, hub, sessions } = context;
  const owner = await ownerOf(context, request, call);
  if (await narrowedKeyOf(store, call.caller)) {
    throw permissionDenied(
      "this API key has limited scopes: to sign out everywhere, use a key that has the scope account",
    );
  }
  const ended = await sessions.endAllOf(owner._id);
  const grants = request.connections ? await store.grants.find({ user_id: owner._id, revoked_at: null }).toArray() : [];
  for (const { _id } of grants) await endGrant(context, _id);
  const keys = request.apiKeys ? await store.keys.find({ user_id: owner._id, revoked_at: null }).toArray() : [];
  if (keys.length > 0) {
    const which = { _id: { $in: keys.map(({ _id }) => _id) } };
    await store.keys.updateMany(which, { $set: { revoked_at: new Date() } });
    await hub.publish(keys.map(({ _id: id }) => ({ kind: EventKind.KEY, id })));
  }
  return { sessions: ended, connections: grants.length, apiKeys: keys.length };
}
