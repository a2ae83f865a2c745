import { failedPrecondition } from "../shared/rpc/errors.js";
import type { Context } from "./context.js";
import { findUser } from "./records.js";
import type { UserRecord } from "./store.js";

const LAST = "this is the last enabled administrator: make another user an administrator first";

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
  if (others === 0) throw failedPrecondition(LAST);
}

/**
 * Checks after a change that somebody still administers, and takes it back
 * otherwise: another auth process may have changed the other one at the same time.
 *
 * @throws ConnectError failed_precondition, where the change was taken back.
 */
export async function checkOneIsLeft(
  { store }: Context,
  before: UserRecord,
  change: Partial<UserRecord>,
): Promise<void> {
  if ((await store.users.countDocuments({ admin: true, disabled: false }, { limit: 1 })) > 0) return;
  const names = Object.keys(change) as (keyof UserRecord)[];
  await store.users.updateOne(
    { _id: before._id },
    { $set: Object.fromEntries(names.map((name) => [name, before[name]])) },
  );
  throw failedPrecondition(LAST);
}
