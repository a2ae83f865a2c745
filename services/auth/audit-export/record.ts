import { hashOf } from "../audit-chain.js";
import type { AuditRecordDoc } from "../store.js";

/** A record of the audit as receivers get it, with what the check of the chain needs: docs/operations.md has its members. */
export interface ExportedRecord {
  readonly number: number;
  readonly recorded_at: string;
  readonly kind: string;
  readonly user_id: string;
  readonly user_email: string;
  readonly key_id: string;
  readonly service_account: string;
  readonly action: string;
  readonly target: string;
  readonly arguments: readonly string[];
  readonly outcome: string;
  readonly trace_id: string;
  readonly count: number;
  /** Written before its call ended: its outcome is not part of its hash. */
  readonly begun: boolean;
  /** The hash of the record before it. */
  readonly previous: string;
  readonly hash: string;
}

/** A stored record as receivers get it. */
export function exported(doc: AuditRecordDoc): ExportedRecord {
  const recordedAt = doc.recorded_at.toISOString();
  return {
    number: Number(doc._id),
    recorded_at: recordedAt,
    kind: doc.kind,
    user_id: doc.user_id,
    user_email: doc.user_email,
    key_id: doc.key_id,
    service_account: doc.service_account ?? "",
    action: doc.action,
    target: doc.target,
    arguments: doc.arguments,
    outcome: doc.outcome,
    trace_id: doc.trace_id,
    count: doc.count,
    begun: doc.begun === true,
    previous: doc.previous ?? "",
    hash: hashOf(doc, recordedAt),
  };
}
