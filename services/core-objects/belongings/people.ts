import type { MessageShape } from "@bufbuild/protobuf";
import type { UserSchema } from "#proto/auth/v1/user_service_pb.js";
import { findPerson } from "../../shared/personal/gone.js";
import type { Call } from "../../shared/rpc/call.js";
import { failedPrecondition, invalidArgument, notFound } from "../../shared/rpc/errors.js";
import type { Peers } from "../../shared/rpc/peers.js";

type User = MessageShape<typeof UserSchema>;

/** Finds users in the name of an administrator. */
export interface People {
  /** undefined if there is no such user, or no longer. */
  find(id: string, call: Call): Promise<User | undefined>;
}

/** Asks auth for users. */
export function createPeople(peers: Peers): People {
  return { find: (id, call) => findPerson(peers, id, call) };
}

/**
 * Checks that one person is gone and that another one is there.
 *
 * @throws ConnectError invalid_argument, not_found, or failed_precondition, each with what to do.
 */
export async function checkPeople(people: People, from: string, to: string, call: Call): Promise<void> {
  if (from === to) throw invalidArgument("to_user_id is the person who left: name another person");
  const [source, target] = await Promise.all([people.find(from, call), people.find(to, call)]);
  if (source !== undefined && !source.disabled)
    throw failedPrecondition(
      `${source.email || source.name} can still sign in, so nothing was handed over: disable or delete the user first`,
    );
  if (target === undefined) throw notFound(`there is no user ${JSON.stringify(to)} to hand over to`);
  if (target.service)
    throw failedPrecondition("a service account cannot own objects, so nothing was handed over: name a person");
  if (target.disabled)
    throw failedPrecondition(
      `${target.email} is disabled, so nothing was handed over: name a person who can sign in, or enable the user`,
    );
}
