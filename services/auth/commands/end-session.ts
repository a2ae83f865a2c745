import type { EndSessionRequest } from "#proto/auth/v1/session_service_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import { notFound, permissionDenied } from "../../shared/rpc/errors.js";
import type { Context } from "../context.js";
import { narrowedKeyOf } from "../key-owner.js";

/** Ends a session of the caller, or for administrators anybody's. */
export async function endSession(
  { store, sessions }: Context,
  { id }: EndSessionRequest,
  { caller }: Call,
): Promise<Record<string, never>> {
  if (await narrowedKeyOf(store, caller)) {
    throw permissionDenied("this API key has limited scopes: to end sessions, use a key that has the scope account");
  }
  const isEnded = await sessions.endById(id, caller.scopes.has("admin") ? undefined : caller.id);
  if (!isEnded) throw notFound(`no session that you can manage has the id ${JSON.stringify(id)}`);
  return {};
}
