import type { MessageInitShape } from "@bufbuild/protobuf";
import type { UpdateUserRequest, UpdateUserResponseSchema } from "#proto/auth/v1/user_service_pb.js";
import { EventKind } from "#proto/auth/v1/watch_service_pb.js";
import { failedPrecondition, notFound } from "../../shared/rpc/errors.js";
import type { Parts } from "../parts.js";
import { hashPassword } from "../passwords.js";
import { checkGroups, findUser, userOf } from "../records.js";
import type { UserRecord } from "../store.js";

export async function updateUser(
  parts: Parts,
  request: UpdateUserRequest,
): Promise<MessageInitShape<typeof UpdateUserResponseSchema>> {
  const change = await changeOf(parts, request);
  const losesAdministrator = request.admin === false || request.disabled === true;
  const user = await (losesAdministrator
    ? parts.administrators.run(async () => {
        await checkAnotherAdministrator(parts, request.id);
        return write(parts, request.id, change);
      })
    : write(parts, request.id, change));
  await parts.hub.publish([{ kind: EventKind.USER, id: user._id }]);
  return { user: userOf(user) };
}

async function changeOf({ records, hashing }: Parts, request: UpdateUserRequest): Promise<Partial<UserRecord>> {
  const { name, admin, disabled, emailVerified, password, groups } = request;
  const user = await findUser(records, request.id, "");
  if (user.service && (admin === true || password !== undefined)) {
    throw failedPrecondition("a service account can be neither an administrator nor have a password");
  }
  const own = [user.login, user.login.slice(0, user.login.indexOf("@")), name ?? user.name];
  return {
    ...(name !== undefined && { name }),
    ...(admin !== undefined && { admin }),
    ...(disabled !== undefined && { disabled }),
    ...(emailVerified !== undefined && { emailVerified }),
    ...(groups !== undefined && { groups: await checkGroups(records, groups.ids) }),
    ...(password !== undefined && { passwordHash: await hashPassword(password, own, hashing) }),
  };
}

async function write({ records }: Parts, id: string, change: Partial<UserRecord>): Promise<UserRecord> {
  const user = await records.users.findOneAndUpdate(
    { _id: id },
    { $set: { ...change, updatedAt: new Date() } },
    { returnDocument: "after" },
  );
  if (user === null) throw notFound(`there is no user ${JSON.stringify(id)}`);
  return user;
}

async function checkAnotherAdministrator({ records }: Parts, id: string): Promise<void> {
  const user = await findUser(records, id, "");
  if (!user.admin || user.disabled) return;
  const others = await records.users.countDocuments({ admin: true, disabled: false, _id: { $ne: id } }, { limit: 1 });
  if (others === 0) throw failedPrecondition("this is the last administrator: make somebody else one first");
}
