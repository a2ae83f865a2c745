import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  AuditKind,
  type AuditRecordSchema,
  type ListAuditRecordsRequest,
  type ListAuditRecordsResponseSchema,
} from "#proto/auth/v1/audit_service_pb.js";
import { pageTokenOf, positionOf } from "../../shared/rpc/page-token.js";
import { type Listing, listPage } from "../../shared/store/page.js";
import type { Filter } from "../../shared/store/store.js";
import { auditIdOf, kindNameOf } from "../audit-trail.js";
import type { Context } from "../context.js";
import type { AuditRecordDoc } from "../store.js";

const PAGE_SIZE = 25;

/** Lists what was done, newest first, or in its order after a number. */
export async function listAuditRecords(
  { store: { audit } }: Context,
  request: ListAuditRecordsRequest,
): Promise<MessageInitShape<typeof ListAuditRecordsResponseSchema>> {
  const { afterNumber, since, until, pageToken, pageSize } = request;
  const known = afterNumber === undefined ? null : await audit.findOne({ _id: auditIdOf(afterNumber) });
  const { items, end, total, totalIsLowerBound } = await listPage(audit, {
    ...seenBy(request),
    wanted: wantedBy(request),
    order: "order",
    direction: afterNumber === undefined ? -1 : 1,
    from: orderOf(since),
    to: orderOf(until),
    after: positionOf(pageToken) ?? known?.order,
    size: pageSize === 0 ? PAGE_SIZE : pageSize,
  });
  return {
    records: items.map(recordOf),
    ...(end !== undefined && { nextPageToken: pageTokenOf(end) }),
    totalSize: total,
    ...(totalIsLowerBound && { totalSizeIsLowerBound: true }),
  };
}

/** What an index tells: one of who and of which kind. */
function seenBy({ userEmail, kind }: ListAuditRecordsRequest): Pick<Listing<AuditRecordDoc>, "seen" | "index"> {
  if (userEmail !== "") return { seen: { user_email: userEmail.toLowerCase() }, index: "user" };
  if (kind !== AuditKind.UNSPECIFIED) return { seen: { kind: kindNameOf(kind) }, index: "kind" };
  return { seen: {}, index: "order" };
}

function wantedBy({
  userEmail,
  kind,
  action,
  target,
  outcome,
  afterNumber,
}: ListAuditRecordsRequest): Filter<AuditRecordDoc> | undefined {
  const wanted = {
    ...(userEmail !== "" && kind !== AuditKind.UNSPECIFIED && { kind: kindNameOf(kind) }),
    ...(action !== "" && { action: { $regex: action.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&"), $options: "i" } }),
    ...(target !== "" && { target }),
    ...(outcome !== "" && { outcome }),
    // Where the record of that number is deleted already.
    ...(afterNumber !== undefined && afterNumber > 0n && { _id: { $gt: auditIdOf(afterNumber) } }),
  };
  return Object.keys(wanted).length === 0 ? undefined : wanted;
}

const orderOf = (at: Timestamp | undefined): string | undefined => at && timestampDate(at).toISOString();

const KINDS: Readonly<Record<AuditRecordDoc["kind"], AuditKind>> = {
  administration: AuditKind.ADMINISTRATION,
  write: AuditKind.WRITE,
  refusal: AuditKind.REFUSAL,
};

function recordOf(doc: AuditRecordDoc): MessageInitShape<typeof AuditRecordSchema> {
  return {
    number: BigInt(doc._id),
    kind: KINDS[doc.kind],
    recordedAt: timestampFromDate(doc.recorded_at),
    userId: doc.user_id,
    userEmail: doc.user_email,
    keyId: doc.key_id,
    action: doc.action,
    target: doc.target,
    arguments: [...doc.arguments],
    outcome: doc.outcome,
    traceId: doc.trace_id,
    count: doc.count,
  };
}
