import { InjectRunResultSchema } from "#proto/aev/v1/execution_pb.js";
import { InjectRunService } from "#proto/aev/v1/inject_run_service_pb.js";
import { InjectStatus } from "#proto/aev/v1/inject_service_pb.js";
import { TargetKind } from "#proto/aev/v1/result_pb.js";
import { failedPrecondition, notFound } from "../../../../shared/rpc/errors.js";
import { shorten } from "../../../../shared/tools/shorten.js";
import { serverStream, unary } from "../../../binding.js";
import { given } from "../../../lib/fields.js";
import { timeOf } from "../../../lib/time.js";
import type { Platform } from "../../../platform.js";
import { missingAgents, readStatus, readTraces, TARGET_WORDS, toTrace, type UpstreamTrace } from "../execution.js";
import { injectOf, statusOf, stepOf } from "../inject.js";
import { listPage, nameKey, type Order } from "../list.js";
import { toOutcomes } from "../results.js";
import { runInject } from "../run-inject.js";
import { searchAll } from "../search.js";
import { type TenantScope, tenantOf } from "../tenant.js";

interface UpstreamExecution {
  readonly payload_command_blocks?:
    | readonly {
        readonly command_executor?: string | null;
        readonly command_content?: string | null;
        readonly payload_cleanup_command?: readonly string[] | null;
      }[]
    | null;
  /** By the id of the agent. */
  readonly execution_traces?: Readonly<Record<string, readonly UpstreamTrace[]>> | null;
}

interface UpstreamInjectTarget {
  readonly target_id: string;
  readonly target_name: string;
  readonly target_subtype?: string | null;
  readonly target_prevention_status?: string | null;
  readonly target_detection_status?: string | null;
  readonly target_vulnerability_status?: string | null;
  readonly target_human_response_status?: string | null;
  readonly target_teams?: readonly string[] | null;
}

const BY_NAME: Order<UpstreamInjectTarget> = {
  sorts: [{ property: "target_name", direction: "asc" }],
  keyOf: (row) => nameKey(row.target_name),
  isOurs: true,
};
const MAX_COMMAND = 4_000;
const MAX_TRACES = 50;
/** Kinds of target that are people. */
const PEOPLE: ReadonlySet<TargetKind> = new Set([TargetKind.TEAM, TargetKind.PLAYER]);
/** What the platform says where a kind of target has no subtype. */
const NONE = new Set(["N/A", "PLAYERS"]);

const { getInjectStatus, getInjectExecutionResult, getInjectExecutionTraces, listInjectTargets, launchInject } =
  InjectRunService.method;

/** How the tools of this service are answered. */
export const bindings = [
  unary(getInjectStatus, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const { row } = await injectOf(platform, tenant, r.injectId);
    const said = await readStatus(platform, tenant, row.inject_id);
    const status = statusOf(said.status_name);
    const failed = status === InjectStatus.ERROR || status === InjectStatus.PARTIAL;
    const agents = failed ? await missingAgents(platform, tenant, row.inject_id) : [];
    return {
      inject: { id: row.inject_id, name: row.inject_title },
      status,
      traces: [...(said.status_main_traces ?? []).map((trace) => toTrace(trace)), ...agents],
      ...given({ sentAt: timeOf(said.tracking_sent_date), endedAt: timeOf(said.tracking_end_date) }),
      ...(failed && {
        hint: "list_inject_targets lists the targets, and get_inject_execution_traces shows what happened on each",
      }),
    };
  }),

  unary(getInjectExecutionResult, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const { row } = await injectOf(platform, tenant, r.injectId);
    const said = await readStatus(platform, tenant, row.inject_id);
    if (statusOf(said.status_name) === InjectStatus.DRAFT) {
      throw failedPrecondition(`inject_id: ${row.inject_id} has not run yet, so there is no output`);
    }
    await needTarget(platform, tenant, row.inject_id, r.targetKind, r.targetId.toLowerCase());
    const execution = await platform.rest<UpstreamExecution>({
      verb: "GET",
      path: tenant.path(`/injects/${row.inject_id}/execution-result`),
      query: { targetId: r.targetId.toLowerCase(), targetType: TARGET_WORDS[r.targetKind] },
    });
    return {
      commands: (execution.payload_command_blocks ?? []).map((block) => ({
        executor: block.command_executor ?? "",
        command: shorten(block.command_content, MAX_COMMAND),
        cleanup: (block.payload_cleanup_command ?? []).map((one) => shorten(one, MAX_COMMAND)),
      })),
      outputs: Object.values(execution.execution_traces ?? {})
        .flat()
        .slice(0, MAX_TRACES)
        .map((trace) => toTrace(trace)),
    };
  }),

  unary(getInjectExecutionTraces, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const { row, parent } = await injectOf(platform, tenant, r.injectId);
    const target = { id: r.targetId.toLowerCase(), kind: r.targetKind };
    const traces = await readTraces(platform, tenant, row.inject_id, target);
    // Of what is no target, the platform says what it says of a target where nothing happened.
    const isItsTeam = target.kind === TargetKind.TEAM && row.inject_teams?.includes(target.id) === true;
    if (traces.length === 0 && !isItsTeam) {
      needPeople(row.inject_id, parent, target.kind);
      await needTarget(platform, tenant, row.inject_id, target.kind, target.id);
    }
    return { traces: traces.slice(0, MAX_TRACES).map((trace) => toTrace(trace)), cut: traces.length > MAX_TRACES };
  }),

  unary(listInjectTargets, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const { row, parent } = await injectOf(platform, tenant, r.injectId);
    needPeople(row.inject_id, parent, r.targetKind);
    const page = await listPage<UpstreamInjectTarget>(
      platform,
      tenant,
      {
        route: `/injects/${row.inject_id}/targets/${TARGET_WORDS[r.targetKind]}/search`,
        idKey: "target_id",
        query: r.query,
        textsOf: (target) => [target.target_name],
        order: BY_NAME,
        piece: 500,
      },
      r,
    );
    return {
      targets: page.rows.map((target) => ({
        id: target.target_id,
        name: target.target_name,
        subtype: NONE.has(target.target_subtype ?? "") ? "" : (target.target_subtype ?? ""),
        teams: (target.target_teams ?? []).map((id) => ({ id })),
        ...outcomesOf(target),
      })),
      ...page.paging,
    };
  }),

  serverStream(launchInject, InjectRunResultSchema, async function* (r, platform) {
    const tenant = await tenantOf(platform, r.tenantId);
    const { row, parent } = await stepOf(platform, tenant, r.injectId);
    // The platform takes the request in any state, and then does nothing or, once it is started, too much.
    const why =
      parent.of === "scenario"
        ? `it belongs to scenario ${parent.id}; run the scenario with launch_scenario`
        : parent.row.exercise_status !== "RUNNING"
          ? `simulation ${parent.id} is ${parent.row.exercise_status.toLowerCase()}, and only a running simulation runs injects; see set_simulation_status`
          : !row.inject_enabled
            ? "it is disabled, so OpenAEV does not run it"
            : row.inject_status?.status_name != null
              ? "it has already run; get_inject_status shows how it went"
              : undefined;
    if (why !== undefined) throw failedPrecondition(`inject_id: ${row.inject_id} cannot be run now: ${why}`);
    return yield* runInject(platform, tenant, row, async () => {
      const path = tenant.path(`/exercises/${parent.id}/injects/${row.inject_id}/trigger`);
      await platform.rest<unknown>({ verb: "PUT", path });
      return row.inject_id;
    });
  }),
];

const MAX_TARGETS = 10_000;

/** @throws ConnectError failed_precondition: the platform looks for those who take part in the simulation, and fails without one. */
function needPeople(inject: string, parent: Awaited<ReturnType<typeof injectOf>>["parent"], kind: TargetKind): void {
  if (parent.of !== "scenario" || !PEOPLE.has(kind)) return;
  throw failedPrecondition(
    `inject_id: ${inject} belongs to scenario ${parent.id}, and only an inject of a simulation has people as targets; get_inject shows the teams of this inject`,
  );
}

/** @throws ConnectError not_found: the platform answers for any target, with the commands that others ran. */
async function needTarget(platform: Platform, tenant: TenantScope, inject: string, kind: TargetKind, id: string) {
  const route = `/injects/${inject}/targets/${TARGET_WORDS[kind]}/search`;
  const search = { route, idKey: "target_id", sorts: BY_NAME.sorts };
  for await (const one of searchAll<UpstreamInjectTarget>(platform, tenant, search, MAX_TARGETS)) {
    if (one.target_id === id) return;
  }
  throw notFound(`target_id: inject ${inject} has no such target ${id}; list_inject_targets lists its targets`);
}

function outcomesOf(target: UpstreamInjectTarget) {
  const told = [
    ["PREVENTION", target.target_prevention_status],
    ["DETECTION", target.target_detection_status],
    ["VULNERABILITY", target.target_vulnerability_status],
    ["HUMAN_RESPONSE", target.target_human_response_status],
  ] as const;
  return toOutcomes(told.flatMap(([type, avgResult]) => (avgResult == null ? [] : [{ type, avgResult }])));
}
