import { EventKind } from "#proto/auth/v1/watch_service_pb.js";
import { aborted, invalidArgument, permissionDenied } from "../../shared/rpc/errors.js";
import type { Context } from "../context.js";
import { checkPassword, hashPassword } from "../passwords.js";
import type { UserRecord } from "../store.js";

/**
 * Changes a person's own password. Their sessions end, in every process; their
 * keys and connections stay.
 *
 * @param keep the id of the session that goes on; undefined for none.
 * @throws ConnectError permission_denied for a wrong password, invalid_argument for a new one that will not do.
 */
export async function changePassword(
  { store, hashing, hub, sessions }: Pick<Context, "store" | "hashing" | "hub" | "sessions">,
  user: UserRecord,
  { current, next, keep }: { readonly current: string; readonly next: string; readonly keep?: string | undefined },
): Promise<UserRecord> {
  if (user.password_hash === null) throw permissionDenied("this account has no password: it signs in elsewhere");
  const { isRight } = await checkPassword(current, user.password_hash, hashing);
  if (!isRight) throw permissionDenied("the current password is wrong");
  if (current.normalize("NFKC") === next.normalize("NFKC")) throw invalidArgument("the new password is the old one");
  const own = [user.login, user.login.slice(0, user.login.indexOf("@")), user.name];
  const password_hash = await hashPassword(next, own, hashing);
  const changed = await store.users.findOneAndUpdate(
    { _id: user._id, password_hash: user.password_hash },
    { $set: { password_hash, must_change_password: false, updated_at: new Date() } },
    { returnDocument: "after" },
  );
  if (changed === null)
    throw aborted("the password was changed elsewhere at the same time: nothing was changed, try again");
  await sessions.endAllOf(user._id, keep);
  await hub.publish([{ kind: EventKind.USER, id: user._id }]);
  return changed;
}
