import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GetUserRequest, GetUserResponseSchema } from "#proto/auth/v1/user_service_pb.js";
import type { Context } from "../context.js";
import { findUser, userOf } from "../records.js";

/** Gets a user by id or by e-mail address. */
export async function getUser(
  { store }: Context,
  { id, email }: GetUserRequest,
): Promise<MessageInitShape<typeof GetUserResponseSchema>> {
  return { user: userOf(await findUser(store, id, email)) };
}
