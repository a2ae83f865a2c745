import type { MessageInitShape } from "@bufbuild/protobuf";
import type { VerifyAuditRequest, VerifyAuditResponseSchema } from "#proto/auth/v1/audit_service_pb.js";
import { hashOf } from "../audit-chain.js";
import { auditIdOf } from "../audit-record-doc.js";
import { ChainCheck, type Link } from "../chain-check.js";
import type { Context } from "../context.js";
import type { AuditRecordDoc } from "../store.js";

/** Records of one call at most, and read at once: others are served between two reads. */
const MOST = 5_000;
const READ = 250;

/** Checks that records of the audit which follow each other fit, from one on. */
export async function verifyAudit(
  { store: { audit } }: Context,
  { afterNumber }: VerifyAuditRequest,
): Promise<MessageInitShape<typeof VerifyAuditResponseSchema>> {
  const before = await audit.findOne({ _id: auditIdOf(afterNumber) });
  const check = new ChainCheck(before === null ? undefined : linkOf(before));
  let after = auditIdOf(afterNumber);
  let hasMore = true;
  while (hasMore && check.records < MOST) {
    const docs = await audit.find({ _id: { $gt: after } }, { sort: { _id: 1 }, limit: READ }).toArray();
    for (const doc of docs) check.add(linkOf(doc));
    after = docs.at(-1)?._id ?? after;
    hasMore = docs.length === READ;
  }
  return {
    records: BigInt(check.records),
    missing: BigInt(check.missing),
    problems: check.problems.map(({ number, reason }) => ({ number: BigInt(number), reason })),
    problemCount: BigInt(check.problemCount),
    lastNumber: check.records === 0 ? afterNumber : BigInt(check.last?.number ?? 0),
    hasMore,
  };
}

function linkOf(doc: AuditRecordDoc): Link {
  return { number: Number(doc._id), hash: hashOf(doc, doc.recorded_at.toISOString()), previous: doc.previous ?? "" };
}
