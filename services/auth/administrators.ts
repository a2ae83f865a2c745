import { failedPrecondition } from "../shared/rpc/errors.js";
import type { Context } from "./context.js";
import { findUser } from "./records.js";

/**
 * Checks that somebody else administers too; asked in `context.administrators`,
 * so that of two who go at once one stays.
 *
 * @throws ConnectError failed_precondition, where the user is the last administrator.
 */
export async function checkAnotherAdministrator({ store }: Context, id: string): Promise<void> {
  const user = await findUser(store, id, "");
  if (!user.admin || user.disabled) return;
  const others = await store.users.countDocuments({ admin: true, disabled: false, _id: { $ne: id } }, { limit: 1 });
  if (others === 0)
    throw failedPrecondition("this is the last enabled administrator: make another user an administrator first");
}
