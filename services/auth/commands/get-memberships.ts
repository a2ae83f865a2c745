import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GetMembershipsRequest, GetMembershipsResponseSchema } from "#proto/auth/v1/directory_service_pb.js";
import type { Context } from "../context.js";

/** Lists the groups of a user. */
export async function getMemberships(
  { store }: Context,
  { userId }: GetMembershipsRequest,
): Promise<MessageInitShape<typeof GetMembershipsResponseSchema>> {
  const user = await store.users.findOne({ _id: userId }, { projection: { groups: 1 } });
  return { groupIds: user?.groups ?? [] };
}
