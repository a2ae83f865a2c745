import type { Call, Caller } from "../shared/rpc/call.js";
import { notFound, permissionDenied } from "../shared/rpc/errors.js";
import type { Context } from "./context.js";
import { findUser } from "./records.js";
import type { ApiKeyRecord, AuthStore, UserRecord } from "./store.js";

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
    throw permissionDenied("only administrators may name another user: omit user_id and user_email");
  }
  return findUser(store, userId, userEmail);
}

/**
 * The key that is calling, where it was narrowed to scopes without `account`:
 * such a key has to do with itself alone, and with none of its owner's others.
 *
 * @throws ConnectError permission_denied for who comes with an access token: a client has to do with no key.
 */
export async function narrowedKeyOf(store: AuthStore, caller: Caller): Promise<ApiKeyRecord | undefined> {
  const own = await ownKeyOf(store, caller);
  return own === null || own.scopes === null || own.scopes.includes("account") ? undefined : own;
}

/**
 * The key that is calling; null for who calls without one, as a person at the console does.
 *
 * @throws ConnectError permission_denied for who comes with an access token.
 */
export async function ownKeyOf(
  { keys, sessions }: Pick<AuthStore, "keys" | "sessions">,
  { keyId }: Caller,
): Promise<ApiKeyRecord | null> {
  if (keyId === "") return null;
  const own = await keys.findOne({ _id: keyId });
  if (own === null && (await sessions.findOne({ _id: keyId })) === null) {
    throw permissionDenied(
      "a client that was connected in the browser cannot manage API keys: use an API key for that",
    );
  }
  return own;
}

/**
 * A key of the caller, or for administrators anybody's.
 *
 * @throws ConnectError not_found, where there is none.
 */
export async function keyOf({ keys }: AuthStore, id: string, { scopes, id: userId }: Caller): Promise<ApiKeyRecord> {
  const found = await keys.findOne(scopes.has("admin") ? { _id: id } : { _id: id, user_id: userId });
  if (found === null) throw notFound(`no API key that you can manage has the id ${JSON.stringify(id)}`);
  return found;
}
