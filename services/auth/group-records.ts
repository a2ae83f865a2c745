import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { GroupSchema } from "#proto/auth/v1/group_service_pb.js";
import { alreadyExists } from "../shared/rpc/errors.js";
import { isDuplicateKey } from "../shared/store/store.js";
import type { AuthStore, GroupRecord } from "./store.js";

/** A group with its size. */
export async function groupOf(
  { users }: AuthStore,
  { _id, name, created_at }: GroupRecord,
): Promise<MessageInitShape<typeof GroupSchema>> {
  const memberCount = await users.countDocuments({ groups: _id });
  return { id: _id, name, memberCount, createdAt: timestampFromDate(created_at) };
}

/** The spelling by which names of groups are compared. */
export function nameKeyOf(name: string): string {
  return name.trim().normalize("NFKC").toLowerCase();
}

/** @throws ConnectError already_exists, where the write meets another group of that name. */
export async function refusingTakenName<T>(name: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (isDuplicateKey(error)) throw alreadyExists(`there is already a group ${JSON.stringify(name)}`, error);
    throw error;
  }
}
