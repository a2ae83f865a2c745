import type { GetUserNamesRequest } from "#proto/auth/v1/directory_service_pb.js";
import type { Context } from "../context.js";

/** Gives the names of users, for those who may not read e-mail addresses: a name that is an address stays out. */
export async function getUserNames(
  { store }: Context,
  { userIds }: GetUserNamesRequest,
): Promise<{ names: Record<string, string> }> {
  const users = userIds.length === 0 ? [] : await store.users.find({ _id: { $in: userIds } }).toArray();
  const named = users.filter(({ name }) => name !== "" && !name.includes("@"));
  return { names: Object.fromEntries(named.map(({ _id, name }) => [_id, name])) };
}
