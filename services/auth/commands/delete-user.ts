import type { MessageInitShape } from "@bufbuild/protobuf";
import type { DeleteUserRequest, DeleteUserResponseSchema } from "#proto/auth/v1/user_service_pb.js";
import { EventKind } from "#proto/auth/v1/watch_service_pb.js";
import { failedPrecondition, notFound } from "../../shared/rpc/errors.js";
import { checkAnotherAdministrator, checkOneIsLeft } from "../administrators.js";
import type { Context } from "../context.js";
import { leftBehind } from "../left-behind.js";
import { deleteOauthOf } from "../oauth/records.js";

/**
 * Deletes a user with all keys, connections and sessions, and stops the user's schedules and runs; answers when no
 * process serves them. The last administrator stays.
 */
export async function deleteUser(
  context: Context,
  { id }: DeleteUserRequest,
): Promise<MessageInitShape<typeof DeleteUserResponseSchema>> {
  const { store, hub, administrators } = context;
  const found = await administrators.run(async () => {
    const user = await store.users.findOne({ _id: id });
    if (user === null) return false;
    if (user.account !== undefined)
      throw failedPrecondition("this is a service account: use DeleteServiceAccount (service-accounts delete)");
    if (user.service)
      throw failedPrecondition("the service's own processes need this service account, so it cannot be deleted");
    await checkAnotherAdministrator(context, id);
    if (user.admin && !user.disabled) {
      // What is deleted cannot be taken back.
      await store.users.updateOne({ _id: id }, { $set: { disabled: true } });
      await checkOneIsLeft(context, user, { disabled: true });
    }
    await store.users.deleteOne({ _id: id });
    return true;
  });
  const deletedCount = await deleteCredentialsOf(context, id);
  if (!found && deletedCount === 0) throw notFound(`there is no user ${JSON.stringify(id)}`);
  await hub.publish([{ kind: EventKind.USER, id }]);
  return { revokedKeys: deletedCount, leftBehind: await leftBehind(context, id) };
}

/**
 * Deletes what opens something for a user. Keys and delegations are nobody's once their user is gone: what a crash
 * leaves of them opens nothing.
 *
 * @returns how many keys there were.
 */
export async function deleteCredentialsOf({ store, sessions }: Context, id: string): Promise<number> {
  const { deletedCount } = await store.keys.deleteMany({ user_id: id });
  await store.delegations.deleteMany({ user_id: id });
  await sessions.endAllOf(id);
  for (const grant of await store.grants.find({ user_id: id }).toArray()) await deleteOauthOf(store, grant._id);
  await store.grants.deleteMany({ user_id: id });
  await store.identities.deleteMany({ user_id: id });
  return deletedCount;
}
