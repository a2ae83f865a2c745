import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListUsersRequest, ListUsersResponseSchema } from "#proto/auth/v1/user_service_pb.js";
import { pageOf } from "../page.js";
import type { Parts } from "../parts.js";
import { userOf } from "../records.js";

export async function listUsers(
  { records }: Parts,
  request: ListUsersRequest,
): Promise<MessageInitShape<typeof ListUsersResponseSchema>> {
  const page = await pageOf(records.users, {}, request, { field: "_id", direction: 1 });
  return { users: page.items.map(userOf), nextPageToken: page.nextPageToken, totalSize: page.totalSize };
}
