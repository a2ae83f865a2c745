import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { PersonalFate as Fate, type PersonalCountSchema } from "#proto/auth/v1/personal_data_pb.js";
import type {
  ErasePersonalDataRequestSchema,
  ErasePersonalDataResponseSchema,
} from "#proto/auth/v1/personal_data_service_pb.js";
import { checkGone } from "../../shared/personal/gone.js";
import { deleteCredentialsOf, deleteUser } from "../commands/delete-user.js";
import type { Context } from "../context.js";
import { userOf } from "../records.js";

/**
 * Deletes the account of a person who can no longer sign in, and everything that opens something for the person. The
 * audit stays: it says who did what, and each record proves the one before.
 */
export async function erasePersonalData(
  context: Context,
  { userId: id, dryRun }: MessageShape<typeof ErasePersonalDataRequestSchema>,
): Promise<MessageInitShape<typeof ErasePersonalDataResponseSchema>> {
  const { store, audit, auditBounds } = context;
  const user = await store.users.findOne({ _id: id });
  checkGone(user === null ? undefined : (userOf(user) as never));
  const counts: MessageInitShape<typeof PersonalCountSchema>[] = [];
  const add = (kind: string, count: number): void => {
    if (count > 0) counts.push({ kind, count: BigInt(count), fate: Fate.DELETED });
  };
  add("user", user === null ? 0 : 1);
  add("api_key", await store.keys.countDocuments({ user_id: id }));
  add("connection", await store.grants.countDocuments({ user_id: id }));
  add("session", await store.sessions.countDocuments({ user_id: id }));
  add("identity", await store.identities.countDocuments({ user_id: id }));
  add("delegation", await store.delegations.countDocuments({ user_id: id }));
  const kept = user === null ? 0 : await audit.countOf(user.login);
  const reason = `the audit says who did what, and each record proves the one before; records end after ${auditBounds.days} days`;
  if (kept > 0) counts.push({ kind: "audit_record", count: BigInt(kept), fate: Fate.KEPT, reason });
  if (dryRun) return { counts };
  if (user === null) await deleteCredentialsOf(context, id);
  else await deleteUser(context, { id } as never);
  return { counts };
}
