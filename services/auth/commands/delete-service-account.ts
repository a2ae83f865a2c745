import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  DeleteServiceAccountRequest,
  DeleteServiceAccountResponseSchema,
} from "#proto/auth/v1/service_account_service_pb.js";
import { EventKind } from "#proto/auth/v1/watch_service_pb.js";
import { notFound } from "../../shared/rpc/errors.js";
import type { Context } from "../context.js";
import { replaced } from "../fence.js";

/** Deletes a service account; answers when no process serves it. */
export async function deleteServiceAccount(
  { store, fence, hub }: Context,
  { id }: DeleteServiceAccountRequest,
): Promise<MessageInitShape<typeof DeleteServiceAccountResponseSchema>> {
  const found = await store.users.findOne({ _id: id });
  if (found?.account === undefined) throw notFound(`there is no service account ${JSON.stringify(id)}`);
  const { deletedCount } = await store.users.deleteOne({ _id: id, ...fence.unclaimed });
  if (deletedCount === 0 && fence.isLost(await store.users.findOne({ _id: id }))) throw replaced();
  await hub.tell([{ kind: EventKind.USER, id }]);
  return {};
}
