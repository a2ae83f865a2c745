import type { MessageInitShape } from "@bufbuild/protobuf";
import { v7 as uuidv7 } from "uuid";
import type { CreateGroupRequest, CreateGroupResponseSchema } from "#proto/auth/v1/group_service_pb.js";
import type { Context } from "../context.js";
import { groupOf, nameKeyOf, refusingTakenName } from "../group-records.js";
import type { GroupRecord } from "../store.js";

/** Creates a group. */
export async function createGroup(
  { store }: Context,
  { name }: CreateGroupRequest,
): Promise<MessageInitShape<typeof CreateGroupResponseSchema>> {
  const group: GroupRecord = { _id: uuidv7(), name, name_key: nameKeyOf(name), created_at: new Date() };
  await refusingTakenName(name, () => store.groups.insertOne(group));
  return { group: await groupOf(store, group) };
}
