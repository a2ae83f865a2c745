import { create, type DescMethodUnary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { AuditKind, ListAuditRecordsRequestSchema } from "#proto/auth/v1/audit_service_pb.js";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { Origin } from "#proto/core/v1/sharing_pb.js";
import { Period, TraceInspectionService, TraceStatus } from "#proto/traces/v1/trace_inspection_service_pb.js";
import { AUDIT_KINDS } from "../../../services/auth/audit-kinds.js";
import { auditIdOf } from "../../../services/auth/audit-record-doc.js";
import { listAuditRecords } from "../../../services/auth/commands/list-audit-records.js";
import type { Context as AuthContext } from "../../../services/auth/context.js";
import { type AuditRecordDoc, openAuthStore } from "../../../services/auth/store.js";
import { silentLog } from "../../../services/shared/process/log.js";
import { createTracesService } from "../../../services/traces/service.js";
import { nthId, nthTraceId, putMany } from "./many.js";
import { as, startRig } from "./rig.js";

/** Lists, by what is asked and who asks. */
export type Pages = Readonly<Record<string, () => Promise<unknown>>>;

const BATCH = 1_000;

/** Creates `count` agents, traces of one agent and audit records; returns lists of them with `pageSize` rows a page. */
export async function startPages(
  count: number,
  pageSize = 1,
): Promise<{ readonly lists: Pages; close(): Promise<void> }> {
  const rig = await startRig();
  const { store, peers, dispatch } = rig;
  rig.add(await createTracesService({ store, peers, log: silentLog, retentionDays: 3650 }));
  await putMany(rig, { count, oneAgent: 0 });
  const auth = await openAuthStore(store);
  for (let from = 0; from < count; from += BATCH)
    await auth.audit.insertMany(Array.from({ length: Math.min(BATCH, count - from) }, (_, i) => auditOf(from + i)));

  const list = (who: string, method: DescMethodUnary, request: object, service?: "traces") => () =>
    dispatch.unary(method, { pageSize, ...request } as never, as(who, service));
  const agents = (who: string, request: object = {}) => list(who, AgentService.method.listAgents, request);
  const { inspectAgentTraces } = TraceInspectionService.method;
  const traces = (who: string, request: object = {}) =>
    list(who, inspectAgentTraces, { period: Period.ALL, ...request }, "traces");
  const ofOne = { targetAgentId: nthId(0) };
  const audit =
    (request: object = {}) =>
    () =>
      listAuditRecords({ store: auth } as AuthContext, create(ListAuditRecordsRequestSchema, { pageSize, ...request }));
  return {
    lists: {
      "agents, an administrator": agents("root"),
      "agents, the owner": agents("bob"),
      "agents, by a group": agents("alice"),
      "agents, the owner of ten": agents("carl"),
      "agents of users, by a group": agents("alice", { origin: Origin.USER }),
      "agents named object": agents("root", { query: "object" }),
      "agents named object, by a group": agents("alice", { query: "object" }),
      "agents named object, the owner of ten": agents("carl", { query: "object" }),
      "agents named nothing of that": agents("root", { query: "nothing of that" }),
      "agents named nothing of that, by a group": agents("alice", { query: "nothing of that" }),
      "agents labelled even": agents("root", { labels: ["even"] }),
      "agents labelled rare": agents("root", { labels: ["rare"] }),
      "agents labelled rare, by a group": agents("alice", { labels: ["rare"] }),
      "agents labelled rare and even, the owner": agents("bob", { labels: ["even", "rare"] }),
      "agents labelled nothing": agents("root", { labels: ["nothing"] }),
      "traces, an administrator": traces("root"),
      "traces of one agent, an administrator": traces("root", ofOne),
      "traces of one agent, its manager": traces("carl", ofOne),
      "a trace by its id, its trigger": traces("bob", { traceId: nthTraceId(0) }),
      "traces with source even, its manager": traces("carl", { ...ofOne, source: "even" }),
      "traces with source none, its manager": traces("carl", { ...ofOne, source: "none" }),
      "traces with source none, an administrator": traces("root", { source: "none" }),
      "traces with model m, its manager": traces("carl", { ...ofOne, model: "m" }),
      "traces with model none, its manager": traces("carl", { ...ofOne, model: "none" }),
      "traces that failed, its manager": traces("carl", { ...ofOne, status: TraceStatus.ERROR }),
      "traces that failed with source odd, its manager": traces("carl", {
        ...ofOne,
        status: TraceStatus.ERROR,
        source: "odd",
      }),
      "traces from January to January, its manager": traces("carl", {
        ...ofOne,
        startedAfter: timestampFromDate(new Date("2026-01-01T01:00:00Z")),
        startedBefore: timestampFromDate(new Date("2026-01-01T02:00:00Z")),
      }),
      "audit records": audit(),
      "audit records of a kind": audit({ kind: AuditKind.WRITE }),
      "audit records of a user": audit({ userEmail: "bob@example.org" }),
      "audit records that ended ok": audit({ outcome: "ok" }),
      "audit records that ended so": audit({ outcome: "nothing of that" }),
      "audit records with action update": audit({ action: "update" }),
      "audit records with action nothing": audit({ action: "nothing of that" }),
      "audit records about one target": audit({ target: nthId(count - 1) }),
      "audit records about the oldest target": audit({ target: nthId(0) }),
      "audit records of a user and a kind": audit({ userEmail: "bob@example.org", kind: AuditKind.REFUSAL }),
      "audit records after a number": audit({ afterNumber: 10n }),
      "audit records since a time": audit({ since: timestampFromDate(auditOf(count >> 1).recorded_at) }),
      "audit records until a time": audit({ until: timestampFromDate(auditOf(count >> 2).recorded_at) }),
    },
    close: () => rig.close(),
  };
}

function auditOf(n: number): AuditRecordDoc {
  return {
    _id: auditIdOf(BigInt(n + 1)),
    kind: AUDIT_KINDS[n % AUDIT_KINDS.length]!,
    recorded_at: new Date(Date.UTC(2026, 0, 1) + n * 1_000),
    user_id: "bob",
    user_email: "bob@example.org",
    key_id: "AbCdEfGhIjKl",
    action: "core.v1.AgentService/UpdateAgent",
    target: nthId(n),
    arguments: ["agent_id", "name"],
    outcome: "ok",
    trace_id: "",
    count: 1,
  };
}
