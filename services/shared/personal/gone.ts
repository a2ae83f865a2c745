import type { MessageShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { type UserSchema, UserService } from "#proto/auth/v1/user_service_pb.js";
import type { Call } from "../rpc/call.js";
import { failedPrecondition } from "../rpc/errors.js";
import type { Peers } from "../rpc/peers.js";

type User = MessageShape<typeof UserSchema>;
type Person = Pick<User, "email" | "name" | "disabled" | "service">;

/** Finds a user in the name of an administrator. @returns undefined if there is no such user, or no longer. */
export async function findPerson(peers: Peers, id: string, call: Call): Promise<User | undefined> {
  try {
    return (await peers.call(UserService.method.getUser, { id }, call)).user;
  } catch (error) {
    if (ConnectError.from(error).code === Code.NotFound) return undefined;
    throw error;
  }
}

/**
 * Checks that a person can no longer sign in, so that nothing new is stored while data is deleted.
 *
 * @param person undefined if there is no such user, or no longer.
 * @throws ConnectError failed_precondition, with what to do.
 */
export function checkGone(person: Person | undefined): void {
  if (person === undefined) return;
  if (person.service)
    throw failedPrecondition(
      "this is a service account and no person, so nothing was erased: use service-accounts delete",
    );
  if (!person.disabled)
    throw failedPrecondition(
      `${person.email || person.name} can still sign in, so nothing was erased: disable or delete the user first`,
    );
}
