import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceAccountSchema } from "#proto/auth/v1/service_account_service_pb.js";
import type { UserRecord } from "../store.js";
import { publicKeyOf } from "./keys.js";

/** A service account as administrators see one. */
export async function serviceAccountOf(user: UserRecord): Promise<MessageInitShape<typeof ServiceAccountSchema>> {
  const { keys = [], methods = [], act_users = [], act_groups = [] } = user.account ?? {};
  return {
    id: user._id,
    name: user.login,
    disabled: user.disabled,
    keys: await Promise.all(keys.map(publicKeyOf)),
    methods: [...methods],
    act: { users: [...act_users], groups: [...act_groups] },
    createdAt: timestampFromDate(user.created_at),
    updatedAt: timestampFromDate(user.updated_at),
  };
}
