import type { MessageInitShape } from "@bufbuild/protobuf";
import type { DeleteGroupRequest, DeleteGroupResponseSchema } from "#proto/auth/v1/group_service_pb.js";
import { EventKind } from "#proto/auth/v1/watch_service_pb.js";
import type { Context } from "../context.js";

/** Deletes a group; answers when its members are none in every process. */
export async function deleteGroup(
  { store, hub }: Context,
  { id }: DeleteGroupRequest,
): Promise<MessageInitShape<typeof DeleteGroupResponseSchema>> {
  // The group goes first, so that nobody becomes a member of it in between.
  await store.groups.deleteOne({ _id: id });
  const members = await store.users.find({ groups: id }).toArray();
  await store.users.updateMany({ groups: id }, { $pull: { groups: id }, $set: { updated_at: new Date() } });
  if (members.length > 0) await hub.publish(members.map(({ _id }) => ({ kind: EventKind.USER, id: _id })));
  return {};
}
