import type { MessageShape } from "@bufbuild/protobuf";
import type { AuditRecordSchema } from "#proto/auth/v1/audit_service_pb.js";
import { BEGUN } from "../shared/audit/entry.js";
import { keptKindOf } from "./audit-kinds.js";
import type { AuditRecordDoc } from "./store.js";

/** So that numbers are in the order of their texts. */
const DIGITS = 16;

/** The id at the end of a place in a list: an earlier version wrote the time in front of it. */
export const auditIdIn = (text: string): string => text.slice(-DIGITS);

/** The id of the record of a number. */
export const auditIdOf = (number: bigint): string => String(number).padStart(DIGITS, "0");

/** Where a record comes, and as what. */
export interface Place {
  readonly number: bigint;
  readonly previous: string;
  readonly sentId: string | undefined;
}

/** A record as it is stored. Hot path: what every record has is written at once. */
export function docOf(
  record: MessageShape<typeof AuditRecordSchema>,
  recordedAt: Date,
  { number, previous, sentId }: Place,
): AuditRecordDoc {
  const doc: Writable<AuditRecordDoc> = {
    _id: auditIdOf(number),
    kind: keptKindOf(record),
    recorded_at: recordedAt,
    user_id: record.userId,
    user_email: record.userEmail,
    key_id: record.keyId,
    action: record.action,
    target: record.target,
    arguments: record.arguments,
    outcome: record.outcome,
    trace_id: record.traceId,
    count: record.count,
    previous,
  };
  if (sentId !== undefined) doc.sent_id = sentId;
  if (record.serviceAccount !== "") doc.service_account = record.serviceAccount;
  if (record.outcome === BEGUN) doc.begun = true;
  return doc;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };
