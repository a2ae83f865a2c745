import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GetAuditUsageRequest, GetAuditUsageResponseSchema } from "#proto/auth/v1/audit_service_pb.js";
import { AUDIT_KINDS } from "../audit-kinds.js";
import type { Context } from "../context.js";
import { emailOf } from "../identity.js";

/** Shows how many records of the audit are kept of a user, or of everyone. */
export async function getAuditUsage(
  { store, audit, auditBounds }: Context,
  { userId }: GetAuditUsageRequest,
): Promise<MessageInitShape<typeof GetAuditUsageResponseSchema>> {
  if (userId === "") return { records: await audit.countOf(), maxRecords: AUDIT_KINDS.length * auditBounds.records };
  const user = await store.users.findOne({ _id: userId });
  const email = user === null ? "" : emailOf(user);
  return email === "" ? {} : { records: await audit.countOf(email) };
}
