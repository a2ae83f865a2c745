import type { MessageInitShape } from "@bufbuild/protobuf";
import type { DeleteUserRequest, DeleteUserResponseSchema } from "#proto/auth/v1/user_service_pb.js";
import { EventKind } from "#proto/auth/v1/watch_service_pb.js";
import { failedPrecondition, notFound } from "../../shared/rpc/errors.js";
import { checkAnotherAdministrator } from "../administrators.js";
import type { Context } from "../context.js";
import { replaced } from "../fence.js";

/** Deletes a user with all keys; answers when no process serves them. The last administrator stays. */
export async function deleteUser(
  context: Context,
  { id }: DeleteUserRequest,
): Promise<MessageInitShape<typeof DeleteUserResponseSchema>> {
  const { store, hub, fence, administrators } = context;
  const found = await administrators.run(async () => {
    const user = await store.users.findOne({ _id: id });
    if (user === null) return false;
    if (user.service)
      throw failedPrecondition("the service's own processes need this service account, so it cannot be deleted");
    await checkAnotherAdministrator(context, id);
    const { deletedCount } = await store.users.deleteOne({ _id: id, ...fence.unclaimed });
    if (deletedCount === 0) throw replaced();
    return true;
  });
  // A key is nobody's once its user is gone: what a crash leaves of them here opens nothing.
  const { deletedCount } = await store.keys.deleteMany({ user_id: id });
  await store.identities.deleteMany({ user_id: id });
  if (!found && deletedCount === 0) throw notFound(`there is no user ${JSON.stringify(id)}`);
  await hub.tell([{ kind: EventKind.USER, id }]);
  return { revokedKeys: deletedCount };
}
