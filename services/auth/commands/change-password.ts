import type { ChangePasswordRequest } from "#proto/auth/v1/session_service_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import { resourceExhausted } from "../../shared/rpc/errors.js";
import type { Context } from "../context.js";
import { ownKeyOf } from "../key-owner.js";
import { findUser } from "../records.js";
import { changePassword } from "../sign-in/change-password.js";

/** Changes the caller's password. */
export async function changeOwnPassword(
  context: Context,
  { currentPassword, newPassword }: ChangePasswordRequest,
  { caller }: Call,
): Promise<Record<string, never>> {
  await ownKeyOf(context.store, caller);
  const user = await findUser(context.store, caller.id, "");
  // Whoever has a key does not have the password, and guesses it here as slowly as at the sign-in page.
  const attempt = { login: user.login, address: `user ${user._id}`, isKnownBrowser: false };
  const waitMs = await context.throttle.waitOf(attempt);
  if (waitMs > 0) {
    throw resourceExhausted(`too many wrong passwords: try again in ${Math.ceil(waitMs / 1000)} seconds`);
  }
  try {
    await changePassword(context, user, { current: currentPassword, next: newPassword, keep: caller.keyId });
  } catch (error) {
    await context.throttle.failed(attempt);
    throw error;
  }
  await context.throttle.succeeded(attempt);
  return {};
}
