import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListGroupsRequest, ListGroupsResponseSchema } from "#proto/auth/v1/group_service_pb.js";
import type { Context } from "../context.js";
import { groupOf } from "../group-records.js";
import { pageOf } from "../page.js";

/** Lists the groups, oldest first. */
export async function listGroups(
  { store }: Context,
  request: ListGroupsRequest,
): Promise<MessageInitShape<typeof ListGroupsResponseSchema>> {
  const { items, ...paging } = await pageOf(store.groups, {}, request, { field: "_id", direction: 1 });
  const groups = await Promise.all(items.map((group) => groupOf(store, group)));
  return { groups, ...paging };
}
