import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListUsersRequest, ListUsersResponseSchema } from "#proto/auth/v1/user_service_pb.js";
import type { Context } from "../context.js";
import { pageOf } from "../page.js";
import { userOf } from "../records.js";

/** Lists the users, or the members of a group, oldest first. */
export async function listUsers(
  { store }: Context,
  request: ListUsersRequest,
): Promise<MessageInitShape<typeof ListUsersResponseSchema>> {
  const { groupId } = request;
  const members = groupId === "" ? {} : { groups: groupId };
  const { items, ...paging } = await pageOf(store.users, members, request, { field: "_id", direction: 1 });
  return { users: items.map(userOf), ...paging };
}
