import type { RecordAuditRequest } from "#proto/auth/v1/audit_service_pb.js";
import type { Context } from "../context.js";

/** Writes down what was done and how it ended. */
export async function recordAudit(
  { audit }: Context,
  { records, outcomes, sentIds, repeatsAfter }: RecordAuditRequest,
): Promise<{ readonly numbers: bigint[] }> {
  const [numbers] = await Promise.all([audit.append(records, { sentIds, repeatsAfter }), audit.finish(outcomes)]);
  return { numbers: [...numbers] };
}
