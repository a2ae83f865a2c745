import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  UpdateServiceAccountRequest,
  UpdateServiceAccountResponseSchema,
} from "#proto/auth/v1/service_account_service_pb.js";
import { EventKind } from "#proto/auth/v1/watch_service_pb.js";
import { notFound } from "../../shared/rpc/errors.js";
import type { UpdateFilter } from "../../shared/store/store.js";
import type { Context } from "../context.js";
import { grantOf } from "../service-accounts/acting.js";
import { keysOf } from "../service-accounts/keys.js";
import { methodsOf } from "../service-accounts/methods.js";
import { serviceAccountOf } from "../service-accounts/records.js";
import type { UserRecord } from "../store.js";

/** Changes a service account; answers when every process knows. */
export async function updateServiceAccount(
  { store, hub }: Context,
  { id, jwks, methods, act, disabled }: UpdateServiceAccountRequest,
): Promise<MessageInitShape<typeof UpdateServiceAccountResponseSchema>> {
  const found = await store.users.findOne({ _id: id });
  if (found?.account === undefined) throw notFound(`there is no service account ${JSON.stringify(id)}`);
  const grant = act === undefined ? undefined : await grantOf(store, act);
  // Field by field: who changes another one at the same time does not lose it.
  const change = {
    ...(disabled !== undefined && { disabled }),
    ...(jwks !== undefined && { "account.keys": keysOf(jwks) }),
    ...(methods !== undefined && { "account.methods": methodsOf(methods.names) }),
    ...(grant !== undefined && { "account.act_users": grant.act_users, "account.act_groups": grant.act_groups }),
    updated_at: new Date(),
  };
  const user = await store.users.findOneAndUpdate({ _id: id }, { $set: change } as UpdateFilter<UserRecord>, {
    returnDocument: "after",
  });
  if (user === null) throw notFound(`there is no service account ${JSON.stringify(id)}`);
  await hub.publish([{ kind: EventKind.USER, id }]);
  return { account: await serviceAccountOf(user) };
}
