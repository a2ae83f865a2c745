import { type User, UserService } from "#proto/auth/v1/user_service_pb.js";
import { clientOf } from "./client.js";
import type { Session } from "./session.js";

/** A user by e-mail address, or by id. @throws ConnectError not_found, where there is none. */
export async function findUser(session: Session, name: string): Promise<User> {
  const { user } = await clientOf(session, UserService).getUser(name.includes("@") ? { email: name } : { id: name });
  return user as User;
}
