import type { Call } from "../shared/rpc/call.js";
import { permissionDenied } from "../shared/rpc/errors.js";
import type { Context } from "./context.js";
import { findUser } from "./records.js";
import type { UserRecord } from "./store.js";

/**
 * Whose keys are meant: the caller's own, or those of a user whom an
 * administrator names.
 *
 * @throws ConnectError permission_denied, where somebody else names another user.
 */
export async function ownerOf(
  { store }: Context,
  { userId = "", userEmail = "" }: { readonly userId?: string | undefined; readonly userEmail?: string | undefined },
  { caller }: Call,
): Promise<UserRecord> {
  if (userId === "" && userEmail === "") return findUser(store, caller.id, "");
  const own = userId === caller.id || (userId === "" && userEmail.toLowerCase() === caller.email);
  if (!own && !caller.scopes.has("admin")) {
    throw permissionDenied("only administrators may name another user: leave out user_id and user_email");
  }
  return findUser(store, userId, userEmail);
}
