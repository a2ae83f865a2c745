import type { MessageInitShape } from "@bufbuild/protobuf";
import type { UpdateGroupRequest, UpdateGroupResponseSchema } from "#proto/auth/v1/group_service_pb.js";
import { EventKind } from "#proto/auth/v1/watch_service_pb.js";
import { aborted, failedPrecondition, invalidArgument, notFound } from "../../shared/rpc/errors.js";
import type { Context } from "../context.js";
import { groupOf, nameKeyOf, refusingTakenName } from "../group-records.js";
import type { AuthStore } from "../store.js";

/** Groups travel with every call, so a user is a member of no more. */
const MAX_GROUPS = 100;

/** Renames a group and changes its members; answers when every process knows. */
export async function updateGroup(
  { store, hub }: Context,
  { id, name, addUserIds, removeUserIds, expected }: UpdateGroupRequest,
): Promise<MessageInitShape<typeof UpdateGroupResponseSchema>> {
  if (addUserIds.some((userId) => removeUserIds.includes(userId))) {
    throw invalidArgument("a user cannot be in both add_user_ids and remove_user_ids");
  }
  const found = await store.groups.findOne({ _id: id });
  if (found === null) throw notFound(`there is no group ${JSON.stringify(id)}`);
  await checkNewMembers(store, addUserIds, id);
  if (expected !== undefined && expected.name !== found.name) throw aborted(RENAMED);
  const group = name === undefined ? found : await rename(store, id, name, expected?.name);

  const updatedAt = new Date();
  if (addUserIds.length > 0) {
    await store.users.updateMany(
      { _id: { $in: addUserIds } },
      { $addToSet: { groups: id }, $set: { updated_at: updatedAt } },
    );
  }
  if (removeUserIds.length > 0) {
    await store.users.updateMany(
      { _id: { $in: removeUserIds } },
      { $pull: { groups: id }, $set: { updated_at: updatedAt } },
    );
  }
  const changed = [...new Set([...addUserIds, ...removeUserIds])];
  if (changed.length > 0) await hub.publish(changed.map((userId) => ({ kind: EventKind.USER, id: userId })));
  return { group: await groupOf(store, group) };
}

/** @param expected the name that it must have now; undefined for any. */
async function rename({ groups }: AuthStore, id: string, name: string, expected: string | undefined) {
  const group = await refusingTakenName(name, () =>
    groups.findOneAndUpdate(
      { _id: id, ...(expected !== undefined && { name: expected }) },
      { $set: { name, name_key: nameKeyOf(name) } },
      { returnDocument: "after" },
    ),
  );
  if (group !== null) return group;
  if (expected !== undefined && (await groups.findOne({ _id: id })) !== null) throw aborted(RENAMED);
  throw notFound(`there is no group ${JSON.stringify(id)}`);
}

const RENAMED = "somebody else renamed the group since you read it: nothing was changed; read the group again";

async function checkNewMembers({ users }: AuthStore, ids: readonly string[], groupId: string): Promise<void> {
  if (ids.length === 0) return;
  const wanted = [...new Set(ids)];
  const found = await users.find({ _id: { $in: wanted } }).toArray();
  const missing = wanted.filter((id) => !found.some((user) => user._id === id));
  if (missing.length > 0)
    throw invalidArgument(`there is no user ${missing.map((id) => JSON.stringify(id)).join(", ")}`);
  const full = found.find(({ groups }) => groups.length >= MAX_GROUPS && !groups.includes(groupId));
  if (full !== undefined) {
    throw failedPrecondition(
      `the user ${full._id} is already a member of ${MAX_GROUPS} groups, the maximum: remove the user from another group first`,
    );
  }
}
