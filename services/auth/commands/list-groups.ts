import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListGroupsRequest, ListGroupsResponseSchema } from "#proto/auth/v1/group_service_pb.js";
import { groupOf } from "../group-records.js";
import { pageOf } from "../page.js";
import type { Parts } from "../parts.js";

export async function listGroups(
  { records }: Parts,
  request: ListGroupsRequest,
): Promise<MessageInitShape<typeof ListGroupsResponseSchema>> {
  const page = await pageOf(records.groups, {}, request, { field: "_id", direction: 1 });
  const groups = await Promise.all(page.items.map((group) => groupOf(records, group)));
  return { groups, nextPageToken: page.nextPageToken, totalSize: page.totalSize };
}
