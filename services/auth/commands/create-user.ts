import type { MessageInitShape } from "@bufbuild/protobuf";
import { v7 as uuidv7 } from "uuid";
import type { CreateUserRequest, CreateUserResponseSchema } from "#proto/auth/v1/user_service_pb.js";
import { alreadyExists } from "../../shared/rpc/errors.js";
import { isDuplicateKey } from "../../shared/store/store.js";
import type { Context } from "../context.js";
import { normalEmail } from "../emails.js";
import { hashPassword } from "../passwords.js";
import { checkGroups, userOf } from "../records.js";
import type { UserRecord } from "../store.js";

/** Creates a user. */
export async function createUser(
  { store, hashing, emailDomains }: Context,
  request: CreateUserRequest,
): Promise<MessageInitShape<typeof CreateUserResponseSchema>> {
  const login = normalEmail(request.email);
  emailDomains.checkNew(login);
  const own = [login, login.slice(0, login.indexOf("@")), request.name];
  const now = new Date();
  const user: UserRecord = {
    _id: uuidv7(),
    login,
    name: request.name,
    admin: request.admin,
    disabled: false,
    groups: await checkGroups(store, request.groups),
    email_verified: request.emailVerified ?? true,
    service: false,
    password_hash: request.password === undefined ? null : await hashPassword(request.password, own, hashing),
    ...(request.password !== undefined && { must_change_password: true }),
    created_at: now,
    updated_at: now,
  };
  try {
    await store.users.insertOne(user);
  } catch (error) {
    if (isDuplicateKey(error))
      throw alreadyExists(`${login} is already the address of a user: choose another one, or update that user`, error);
    throw error;
  }
  return { user: userOf(user) };
}
