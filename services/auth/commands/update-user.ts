import type { MessageInitShape } from "@bufbuild/protobuf";
import type { UpdateUserRequest, UpdateUserResponseSchema, User } from "#proto/auth/v1/user_service_pb.js";
import { EventKind } from "#proto/auth/v1/watch_service_pb.js";
import { aborted, failedPrecondition, notFound } from "../../shared/rpc/errors.js";
import { checkAnotherAdministrator, checkOneIsLeft } from "../administrators.js";
import type { Context } from "../context.js";
import { leftBehind } from "../left-behind.js";
import { hashPassword } from "../passwords.js";
import { checkGroups, findUser, userOf } from "../records.js";
import type { UserRecord } from "../store.js";

/** Changes a user; answers when every process knows. The last administrator stays one. */
export async function updateUser(
  context: Context,
  request: UpdateUserRequest,
): Promise<MessageInitShape<typeof UpdateUserResponseSchema>> {
  const change = await changeOf(context, request);
  const losesAdministrator = request.admin === false || request.disabled === true;
  const user = await (losesAdministrator
    ? context.administrators.run(async () => {
        await checkAnotherAdministrator(context, request.id);
        const before = await findUser(context.store, request.id, "");
        const user = await write(context, request, change);
        await checkOneIsLeft(context, before, change);
        return user;
      })
    : write(context, request, change));
  if (user.disabled || request.password !== undefined) await context.sessions.endAllOf(user._id);
  await context.hub.publish([{ kind: EventKind.USER, id: user._id }]);
  if (request.disabled !== true) return { user: userOf(user) };
  return { user: userOf(user), leftBehind: await leftBehind(context, user._id) };
}

async function changeOf({ store, hashing }: Context, request: UpdateUserRequest): Promise<Partial<UserRecord>> {
  const { name, admin, disabled, emailVerified, password, groups } = request;
  const user = await findUser(store, request.id, "");
  if (user.account !== undefined && groups !== undefined)
    throw failedPrecondition("a service account is a member of no group: share objects with people");
  if (user.service && (admin === true || password !== undefined)) {
    throw failedPrecondition("a service account can neither be an administrator nor have a password");
  }
  const own = [user.login, user.login.slice(0, user.login.indexOf("@")), name ?? user.name];
  return {
    ...(name !== undefined && { name }),
    ...(admin !== undefined && { admin }),
    ...(disabled !== undefined && { disabled }),
    ...(emailVerified !== undefined && { email_verified: emailVerified }),
    ...(groups !== undefined && { groups: await checkGroups(store, groups.ids) }),
    ...(password !== undefined && {
      password_hash: await hashPassword(password, own, hashing),
      must_change_password: true,
    }),
  };
}

async function write(
  { store }: Context,
  { id, expected }: UpdateUserRequest,
  change: Partial<UserRecord>,
): Promise<UserRecord> {
  const user = await store.users.findOneAndUpdate(
    { _id: id, ...(expected !== undefined && asRead(expected)) },
    { $set: { ...change, updated_at: new Date() } },
    { returnDocument: "after" },
  );
  if (user !== null) return user;
  if (expected === undefined || (await store.users.findOne({ _id: id })) === null)
    throw notFound(`there is no user ${JSON.stringify(id)}`);
  throw aborted("somebody else changed the user since you read it: nothing was changed; read the user again");
}

/** What this call changes: a new password or another sign-in of the user is no conflict. */
function asRead({ name, admin, disabled, groups, emailVerified }: User): Partial<UserRecord> {
  return { name, admin, disabled, groups, email_verified: emailVerified };
}
