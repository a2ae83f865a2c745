import { hash } from "node:crypto";
import type { AuditRecordDoc } from "./store.js";

// Each record has the hash of the one before it, so that a record which is
// changed, put in between or moved does not fit its neighbours.

/**
 * The hash that the next record has of this one: SHA-256 (FIPS 180-4) in base64url, of its fields as a JSON array. How
 * a call ended that was begun when the record was written is not among them.
 *
 * @param recordedAt when it was written, as `Date.prototype.toISOString` gives it.
 */
export function hashOf(
  doc: Omit<AuditRecordDoc, "kind" | "recorded_at"> & { readonly kind: string },
  recordedAt: string,
): string {
  const fields = [
    doc._id,
    `${recordedAt} ${doc._id}`,
    doc.kind,
    doc.user_id,
    doc.user_email,
    doc.key_id,
    doc.service_account ?? "",
    doc.action,
    doc.target,
    doc.arguments,
    doc.begun === true ? "" : doc.outcome,
    doc.trace_id,
    doc.count,
    doc.previous ?? "",
  ];
  return hash("sha256", JSON.stringify(fields), "base64url");
}
