import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ApiKeySchema } from "#proto/auth/v1/api_key_service_pb.js";
import type { UserSchema } from "#proto/auth/v1/user_service_pb.js";
import { invalidArgument, notFound } from "../shared/rpc/errors.js";
import { normalEmail } from "./emails.js";
import { emailOf } from "./identity.js";
import type { ApiKeyRecord, AuthStore, UserRecord } from "./store.js";

/** A user as administrators see one; never the password's hash. */
export function userOf(user: UserRecord): MessageInitShape<typeof UserSchema> {
  return {
    id: user._id,
    email: emailOf(user),
    name: user.name,
    admin: user.admin,
    disabled: user.disabled,
    groups: user.groups,
    emailVerified: user.email_verified,
    service: user.service,
    createdAt: timestampFromDate(user.created_at),
    updatedAt: timestampFromDate(user.updated_at),
  };
}

/** An API key as its owner sees it; never anything of the secret. */
export function apiKeyOf(key: ApiKeyRecord, owner: UserRecord): MessageInitShape<typeof ApiKeySchema> {
  return {
    id: key._id,
    name: key.name,
    userId: key.user_id,
    userEmail: emailOf(owner),
    scopes: key.scopes ?? [],
    createdAt: timestampFromDate(key.created_at),
    ...(key.expires_at !== null && { expiresAt: timestampFromDate(key.expires_at) }),
    ...(key.revoked_at !== null && { revokedAt: timestampFromDate(key.revoked_at) }),
    ...(key.last_used_at !== null && { lastUsedAt: timestampFromDate(key.last_used_at) }),
    uses: BigInt(key.uses),
  };
}

/**
 * Finds a user by id or by e-mail address, whichever is given.
 *
 * @throws ConnectError invalid_argument unless exactly one is given, not_found where there is no such user.
 */
export async function findUser({ users }: AuthStore, id: string, email: string): Promise<UserRecord> {
  if ((id === "") === (email === "")) throw invalidArgument("give either the user's id or e-mail address");
  const user = await users.findOne(id === "" ? { login: normalEmail(email) } : { _id: id });
  if (user === null) throw notFound(`there is no user ${JSON.stringify(id || email)}`);
  return user;
}

/** @throws ConnectError invalid_argument, where a group does not exist. */
export async function checkGroups({ groups }: AuthStore, ids: readonly string[]): Promise<string[]> {
  const wanted = [...new Set(ids)];
  const found = wanted.length === 0 ? [] : await groups.find({ _id: { $in: wanted } }).toArray();
  const missing = wanted.filter((id) => !found.some((group) => group._id === id));
  if (missing.length > 0)
    throw invalidArgument(`there is no group ${missing.map((id) => JSON.stringify(id)).join(", ")}`);
  return wanted;
}
