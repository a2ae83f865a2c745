import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GetUserRequest, GetUserResponseSchema } from "#proto/auth/v1/user_service_pb.js";
import type { Parts } from "../parts.js";
import { findUser, userOf } from "../records.js";

export async function getUser(
  { records }: Parts,
  { id, email }: GetUserRequest,
): Promise<MessageInitShape<typeof GetUserResponseSchema>> {
  return { user: userOf(await findUser(records, id, email)) };
}
