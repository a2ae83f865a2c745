import type { MessageInitShape } from "@bufbuild/protobuf";
import { ExecutionStep, type ExecutionTraceSchema } from "#proto/aev/v1/execution_pb.js";
import { TargetKind } from "#proto/aev/v1/result_pb.js";
import { shorten } from "../../../shared/tools/shorten.js";
import { listOf } from "../../lib/answers.js";
import { given } from "../../lib/fields.js";
import { timeOf } from "../../lib/time.js";
import { enumOf } from "../../lib/words.js";
import type { Platform } from "../../platform.js";
import type { UpstreamTarget } from "./results.js";
import { searchOnce } from "./search.js";
import type { TenantScope } from "./tenant.js";

/** One thing that happened while an inject was carried out, as the platform tells it. */
export interface UpstreamTrace {
  readonly execution_status: string;
  readonly execution_time: string;
  readonly execution_message: string | null;
  readonly execution_action: string;
  readonly execution_agent?: { readonly agent_id: string; readonly agent_executed_by_user?: string | null } | null;
}

/** How the run of an inject went; one that never ran has a name alone. */
export interface UpstreamStatus {
  readonly status_name?: string | null;
  readonly status_main_traces?: readonly UpstreamTrace[] | null;
  readonly tracking_sent_date?: string | null;
  readonly tracking_end_date?: string | null;
}

/** The platform's words for kinds of targets. */
export const TARGET_WORDS: Readonly<Record<TargetKind, string>> = {
  [TargetKind.UNSPECIFIED]: "",
  [TargetKind.ENDPOINT]: "ASSETS",
  [TargetKind.ASSET_GROUP]: "ASSETS_GROUPS",
  [TargetKind.TEAM]: "TEAMS",
  [TargetKind.PLAYER]: "PLAYERS",
  [TargetKind.AGENT]: "AGENT",
};

const MAX_MESSAGE = 2_000;

type TraceInit = MessageInitShape<typeof ExecutionTraceSchema>;

/**
 * A trace in our words.
 *
 * @param endpoint where it is of one that has no agent.
 */
export function toTrace(trace: UpstreamTrace, endpoint?: { readonly id: string; readonly name: string }): TraceInit {
  const agent = trace.execution_agent;
  return {
    step: enumOf(ExecutionStep, trace.execution_action),
    status: trace.execution_status.toLowerCase(),
    message: shorten(trace.execution_message, MAX_MESSAGE),
    ...given({ at: timeOf(trace.execution_time) }),
    ...(agent != null && { agent: { id: agent.agent_id, ...given({ name: agent.agent_executed_by_user }) } }),
    ...(endpoint !== undefined && { endpoint }),
  };
}

/** Reads how the run of an inject went as a whole. */
export function readStatus(platform: Platform, tenant: TenantScope, injectId: string): Promise<UpstreamStatus> {
  return platform.rest<UpstreamStatus>({ verb: "GET", path: tenant.path("/injects/status"), query: { injectId } });
}

/** Reads what happened to an inject on one target, in the order of time. */
export async function readTraces(
  platform: Platform,
  tenant: TenantScope,
  injectId: string,
  target: { readonly id: string; readonly kind: TargetKind },
): Promise<UpstreamTrace[]> {
  const answer = await platform.rest<unknown>({
    verb: "GET",
    path: tenant.path("/injects/execution-traces"),
    query: { injectId, targetId: target.id.toLowerCase(), targetType: TARGET_WORDS[target.kind] },
  });
  return [...listOf<UpstreamTrace>(platform.server, answer)].sort(
    (a, b) => Date.parse(a.execution_time) - Date.parse(b.execution_time),
  );
}

/** The first targets of a kind, members of its groups among them, and how many there are. */
export async function firstTargets(
  platform: Platform,
  tenant: TenantScope,
  injectId: string,
  kind: TargetKind,
  count: number,
): Promise<{ readonly rows: readonly UpstreamTarget[]; readonly totalSize: number }> {
  const search = {
    route: `/injects/${injectId}/targets/${TARGET_WORDS[kind]}/search`,
    idKey: "target_id",
    sorts: [{ property: "target_name", direction: "asc" }],
  } as const;
  return searchOnce<UpstreamTarget>(platform, tenant, search, 0, count);
}

/** At how many endpoints it is looked why nothing was done there. */
const LOOKED_AT = 10;

/**
 * Why an inject did nothing on its first endpoints: those that have no agent,
 * or one that is silent. The platform tells it target by target alone.
 */
export async function missingAgents(platform: Platform, tenant: TenantScope, injectId: string): Promise<TraceInit[]> {
  const { rows } = await firstTargets(platform, tenant, injectId, TargetKind.ENDPOINT, LOOKED_AT);
  const found: TraceInit[] = [];
  for (const { target_id: id, target_name: name } of rows) {
    const traces = await readTraces(platform, tenant, injectId, { id, kind: TargetKind.ENDPOINT });
    const why = traces.find(({ execution_status }) => MISSING.has(execution_status));
    if (why !== undefined) found.push(toTrace(why, { id, name }));
  }
  return found;
}

const MISSING = new Set(["ASSET_AGENTLESS", "AGENT_INACTIVE"]);
