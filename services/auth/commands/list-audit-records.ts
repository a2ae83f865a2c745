import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  AuditRecordSchema,
  ListAuditRecordsRequest,
  ListAuditRecordsResponseSchema,
} from "#proto/auth/v1/audit_service_pb.js";
import { pageTokenOf, positionOf } from "../../shared/rpc/page-token.js";
import { type Listing, listPage } from "../../shared/store/page.js";
import type { Filter } from "../../shared/store/store.js";
import { keptKindsOf, kindOfKept } from "../audit-kinds.js";
import { auditIdOf } from "../audit-record-doc.js";
import type { Context } from "../context.js";
import { emailOf } from "../identity.js";
import type { AuditRecordDoc, AuthStore } from "../store.js";

const PAGE_SIZE = 25;

/** Lists what was done, newest first, or in its order after a number. */
export async function listAuditRecords(
  { store }: Context,
  request: ListAuditRecordsRequest,
): Promise<MessageInitShape<typeof ListAuditRecordsResponseSchema>> {
  const { audit } = store;
  const { afterNumber, since, until, pageToken, pageSize } = request;
  const known = afterNumber === undefined ? null : await audit.findOne({ _id: auditIdOf(afterNumber) });
  const { items, end, total } = await listPage(audit, {
    ...seenBy(request),
    wanted: wantedBy(request),
    order: "order",
    direction: afterNumber === undefined ? -1 : 1,
    from: orderOf(since),
    to: orderOf(until),
    after: positionOf(pageToken, request) ?? known?.order,
    size: pageSize === 0 ? PAGE_SIZE : pageSize,
  });
  const emails = await emailsOf(store, items);
  return {
    records: items.map((doc) => recordOf(doc, emails.get(doc.target) ?? "")),
    ...(end !== undefined && { nextPageToken: pageTokenOf(end, request) }),
    ...(total !== undefined && { totalSize: total }),
  };
}

/** What an index tells: of whom, and of which kind. */
function seenBy({ userEmail, kind }: ListAuditRecordsRequest): Pick<Listing<AuditRecordDoc>, "seen" | "index"> {
  const ofKind = { kind: { $in: keptKindsOf(kind) } };
  if (userEmail !== "") return { seen: { user_email: userEmail.toLowerCase(), ...ofKind }, index: "user" };
  return { seen: ofKind, index: "kind" };
}

function wantedBy({
  action,
  target,
  outcome,
  afterNumber,
}: ListAuditRecordsRequest): Filter<AuditRecordDoc> | undefined {
  const wanted = {
    ...(action !== "" && { action: { $regex: action.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&"), $options: "i" } }),
    ...(target !== "" && { target }),
    ...(outcome !== "" && { outcome }),
    // Where the record of that number is deleted already.
    ...(afterNumber !== undefined && afterNumber > 0n && { _id: { $gt: auditIdOf(afterNumber) } }),
  };
  return Object.keys(wanted).length === 0 ? undefined : wanted;
}

const orderOf = (at: Timestamp | undefined): string | undefined => at && timestampDate(at).toISOString();

/** The addresses of users who are targets, or whose keys are, by the target. */
async function emailsOf({ users, keys }: AuthStore, docs: readonly AuditRecordDoc[]): Promise<Map<string, string>> {
  const targets = (service: string) => docs.filter(({ action }) => action.startsWith(service)).map((doc) => doc.target);
  const owned = await keys.find({ _id: { $in: targets("auth.v1.ApiKeyService/") } }).toArray();
  const ids = [...new Set([...targets("auth.v1.UserService/"), ...owned.map((key) => key.user_id)])];
  const found = await users.find({ _id: { $in: ids } }).toArray();
  const emails = new Map(found.map((user) => [user._id, emailOf(user)]));
  for (const { _id, user_id } of owned) emails.set(_id, emails.get(user_id) ?? "");
  return emails;
}

function recordOf(doc: AuditRecordDoc, targetEmail: string): MessageInitShape<typeof AuditRecordSchema> {
  return {
    number: BigInt(doc._id),
    kind: kindOfKept(doc.kind),
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
    serviceAccount: doc.service_account ?? "",
    targetEmail,
  };
}
