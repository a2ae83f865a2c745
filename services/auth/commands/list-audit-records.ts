import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  AuditRecordSchema,
  ListAuditRecordsRequest,
  ListAuditRecordsResponseSchema,
} from "#proto/auth/v1/audit_service_pb.js";
import { pageTokenOf, positionOf } from "../../shared/rpc/page-token.js";
import { type Listing, listPage } from "../../shared/store/page.js";
import type { Filter } from "../../shared/store/store.js";
import { keptKindsOf, kindOfKept } from "../audit-kinds.js";
import { auditIdIn, auditIdOf } from "../audit-record-doc.js";
import { firstIdSince } from "../audit-times.js";
import type { Context } from "../context.js";
import { emailOf } from "../identity.js";
import type { AuditRecordDoc, AuthStore } from "../store.js";

const PAGE_SIZE = 25;

/** Lists what was done, newest first, or in its order after a number. */
export async function listAuditRecords(
  { store }: Context,
  request: ListAuditRecordsRequest,
): Promise<MessageInitShape<typeof ListAuditRecordsResponseSchema>> {
  const { afterNumber, since, until, pageToken, pageSize } = request;
  const [first, to] = await Promise.all([since, until].map((at) => at && firstIdSince(store, timestampDate(at))));
  const position = positionOf(pageToken, request);
  const next = afterNumber === undefined ? undefined : auditIdOf(afterNumber + 1n);
  const { items, end, total } = await listPage(store.audit, {
    ...seenBy(request),
    wanted: wantedBy(request),
    order: "_id",
    direction: afterNumber === undefined ? -1 : 1,
    from: laterOf(first, next),
    to,
    after: position && auditIdIn(position),
    size: pageSize === 0 ? PAGE_SIZE : pageSize,
  });
  const emails = await emailsOf(store, items);
  return {
    records: items.map((doc) => recordOf(doc, emails.get(doc.target) ?? "")),
    ...(end !== undefined && { nextPageToken: pageTokenOf(end, request) }),
    ...(total !== undefined && { totalSize: total }),
  };
}

/** The later of two ids, either of which may be undefined. */
function laterOf(one: string | undefined, other: string | undefined): string | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one > other ? one : other;
}

/** What an index tells: of whom, and of which kind. */
function seenBy({ userEmail, kind }: ListAuditRecordsRequest): Pick<Listing<AuditRecordDoc>, "seen" | "index"> {
  const ofKind = { kind: { $in: keptKindsOf(kind) } };
  if (userEmail !== "") return { seen: { user_email: userEmail.toLowerCase(), ...ofKind }, index: "user" };
  return { seen: ofKind, index: "kind" };
}

function wantedBy({ action, target, outcome }: ListAuditRecordsRequest): Filter<AuditRecordDoc> | undefined {
  const wanted = {
    ...(action !== "" && { action: { $regex: action.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&"), $options: "i" } }),
    ...(target !== "" && { target }),
    ...(outcome !== "" && { outcome }),
  };
  return Object.keys(wanted).length === 0 ? undefined : wanted;
}

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
