import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ListServiceAccountsRequest,
  ListServiceAccountsResponseSchema,
} from "#proto/auth/v1/service_account_service_pb.js";
import type { Context } from "../context.js";
import { pageOf } from "../page.js";
import { serviceAccountOf } from "../service-accounts/records.js";

/** Lists the service accounts, oldest first. */
export async function listServiceAccounts(
  { store }: Context,
  request: ListServiceAccountsRequest,
): Promise<MessageInitShape<typeof ListServiceAccountsResponseSchema>> {
  const accounts = { login: { $gte: "svc:", $lt: "svc;" } };
  const { items, ...paging } = await pageOf(store.users, accounts, request, { field: "_id", direction: 1 });
  return { accounts: await Promise.all(items.map(serviceAccountOf)), ...paging };
}
