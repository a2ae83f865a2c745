import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  DeleteServiceAccountRequest,
  DeleteServiceAccountResponseSchema,
} from "#proto/auth/v1/service_account_service_pb.js";
import { EventKind } from "#proto/auth/v1/watch_service_pb.js";
import { notFound } from "../../shared/rpc/errors.js";
import type { Context } from "../context.js";

/** Deletes a service account; answers when no process serves it. */
export async function deleteServiceAccount(
  { store, hub }: Context,
  { id }: DeleteServiceAccountRequest,
): Promise<MessageInitShape<typeof DeleteServiceAccountResponseSchema>> {
  const found = await store.users.findOne({ _id: id });
  if (found?.account === undefined) throw notFound(`there is no service account ${JSON.stringify(id)}`);
  await store.users.deleteOne({ _id: id });
  await hub.publish([{ kind: EventKind.USER, id }]);
  return {};
}
