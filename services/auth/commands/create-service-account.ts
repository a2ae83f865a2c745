import type { MessageInitShape } from "@bufbuild/protobuf";
import { v7 as uuidv7 } from "uuid";
import type {
  CreateServiceAccountRequest,
  CreateServiceAccountResponseSchema,
} from "#proto/auth/v1/service_account_service_pb.js";
import { alreadyExists, failedPrecondition, invalidArgument } from "../../shared/rpc/errors.js";
import { isDuplicateKey } from "../../shared/store/store.js";
import type { Context } from "../context.js";
import { grantOf } from "../service-accounts/acting.js";
import { ACCOUNT_NAME } from "../service-accounts/client-assertion.js";
import { keysOf } from "../service-accounts/keys.js";
import { methodsOf } from "../service-accounts/methods.js";
import { serviceAccountOf } from "../service-accounts/records.js";
import type { UserRecord } from "../store.js";

const MOST_ACCOUNTS = 1_000;

/** Creates a service account. */
export async function createServiceAccount(
  { store }: Context,
  { name, jwks, methods, act }: CreateServiceAccountRequest,
): Promise<MessageInitShape<typeof CreateServiceAccountResponseSchema>> {
  if (!ACCOUNT_NAME.test(name))
    throw invalidArgument("name must be svc: and 1 to 63 lower-case letters, digits or hyphens, such as svc:soar");
  const account = { keys: keysOf(jwks), methods: methodsOf(methods?.names ?? []), ...(await grantOf(store, act)) };
  const count = await store.users.countDocuments({ login: { $gte: "svc:", $lt: "svc;" } }, { limit: MOST_ACCOUNTS });
  if (count >= MOST_ACCOUNTS)
    throw failedPrecondition(`there are ${MOST_ACCOUNTS} service accounts, the maximum: delete one first`);
  const now = new Date();
  const user: UserRecord = {
    _id: uuidv7(),
    login: name,
    name,
    admin: false,
    disabled: false,
    groups: [],
    email_verified: false,
    service: true,
    password_hash: null,
    account,
    created_at: now,
    updated_at: now,
  };
  try {
    await store.users.insertOne(user);
  } catch (error) {
    if (isDuplicateKey(error)) throw alreadyExists(`there is a service account ${name}: update it, or choose a name`);
    throw error;
  }
  return { account: await serviceAccountOf(user) };
}
