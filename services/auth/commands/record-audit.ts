import { create } from "@bufbuild/protobuf";
import {
  AuditOutcomeSchema,
  type AuditRecord,
  AuditRecordSchema,
  type RecordAuditRequest,
} from "#proto/auth/v1/audit_service_pb.js";
import type { AuditEntry } from "../../shared/audit/entry.js";
import type { AuditRequest } from "../../shared/audit/sender.js";
import { messageFrom } from "../../shared/rpc/message-from.js";
import type { Context } from "../context.js";

/** Writes down what was done and how it ended. */
export async function recordAudit(
  { audit }: Context,
  { records, outcomes, sentIds, repeatsAfter }: RecordAuditRequest,
): Promise<{ readonly numbers: bigint[] }> {
  const written = audit.append(records, { sentIds, repeatsAfter, mayComeAgain: true });
  const [numbers] = await Promise.all([written, audit.finish(outcomes)]);
  return { numbers: [...numbers] };
}

/** A record of which some may be left out, as the message has it. */
export function wholeRecord(record: AuditEntry): AuditRecord {
  return messageFrom(AuditRecordSchema, record);
}

/** The same for this process's own calls, whose records are no messages. */
export async function recordOwnAudit(
  { audit }: Pick<Context, "audit">,
  { records = [], outcomes = [], sentIds = [], repeatsAfter }: AuditRequest,
): Promise<readonly bigint[]> {
  const written = audit.append(records.map(wholeRecord), { sentIds, repeatsAfter });
  if (outcomes.length > 0)
    await Promise.all([written, audit.finish(outcomes.map((one) => create(AuditOutcomeSchema, one)))]);
  return written;
}
