import type { MessageInitShape } from "@bufbuild/protobuf";
import { v7 as uuidv7 } from "uuid";
import type { CreateGroupRequest, CreateGroupResponseSchema } from "#proto/auth/v1/group_service_pb.js";
import { groupOf, nameKeyOf, refusingTakenName } from "../group-records.js";
import type { Parts } from "../parts.js";
import type { GroupRecord } from "../store.js";

export async function createGroup(
  { records }: Parts,
  { name }: CreateGroupRequest,
): Promise<MessageInitShape<typeof CreateGroupResponseSchema>> {
  const group: GroupRecord = { _id: uuidv7(), name, nameKey: nameKeyOf(name), createdAt: new Date() };
  await refusingTakenName(name, () => records.groups.insertOne(group));
  return { group: await groupOf(records, group) };
}
