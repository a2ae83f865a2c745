import type { MessageInitShape } from "@bufbuild/protobuf";
import type { DeleteGroupRequest, DeleteGroupResponseSchema } from "#proto/auth/v1/group_service_pb.js";
import { EventKind } from "#proto/auth/v1/watch_service_pb.js";
import type { Parts } from "../parts.js";

export async function deleteGroup(
  { records, hub }: Parts,
  { id }: DeleteGroupRequest,
): Promise<MessageInitShape<typeof DeleteGroupResponseSchema>> {
  // The group goes first, so that nobody becomes a member of it in between.
  await records.groups.deleteOne({ _id: id });
  const members = await records.users.find({ groups: id }).toArray();
  await records.users.updateMany({ groups: id }, { $pull: { groups: id }, $set: { updatedAt: new Date() } });
  if (members.length > 0) await hub.publish(members.map(({ _id }) => ({ kind: EventKind.USER, id: _id })));
  return {};
}
