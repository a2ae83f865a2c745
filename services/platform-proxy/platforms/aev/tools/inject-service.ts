import type { MessageInitShape } from "@bufbuild/protobuf";
import { type InjectSchema, InjectService, InjectStatus } from "#proto/aev/v1/inject_service_pb.js";
import { unary } from "../../../binding.js";
import { given } from "../../../lib/fields.js";
import { timeOf } from "../../../lib/time.js";
import { enumOf } from "../../../lib/words.js";
import { listPage, type Order } from "../list.js";
import { memberOf, SCENARIO, SIMULATION } from "../member.js";
import { toOutcomes, toResult, toTargets } from "../results.js";
import { tenantOf } from "../tenant.js";
import type { UpstreamContract, UpstreamInject, UpstreamInjectResult } from "../upstream.js";

/** The order of their time, which rows of simulations do not tell; no two are changed at once. */
const BY_TIME: Order<unknown> = {
  sorts: [
    { property: "inject_depends_duration", direction: "asc" },
    { property: "inject_title", direction: "asc" },
    { property: "inject_updated_at", direction: "asc" },
  ],
};
/** Rows are large: each has the whole contract of its inject. */
const PIECE = 100;

/** How the tools of this service are answered. */
export const bindings = [
  unary(InjectService.method.listInjects, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    // The platform answers for an unknown parent as for one without injects.
    const common = { idKey: "inject_id", query: r.query, order: BY_TIME, piece: PIECE } as const;
    const textsOf = (row: UpstreamInject | UpstreamInjectResult) => [row.inject_title];
    if (r.parent.case === "simulationId") {
      const { exercise_id } = await memberOf(platform, tenant, SIMULATION, r.parent.value);
      const route = `/exercises/${exercise_id}/injects/search`;
      const page = await listPage<UpstreamInjectResult>(platform, tenant, { ...common, route, textsOf }, r);
      return { injects: page.rows.map((row) => ofSimulation(row, r.withTargets)), ...page.paging };
    }
    const { scenario_id } = await memberOf(platform, tenant, SCENARIO, r.parent.value as string);
    const route = `/scenarios/${scenario_id}/injects/simple`;
    const page = await listPage<UpstreamInject>(platform, tenant, { ...common, route, textsOf }, r);
    return { injects: page.rows.map(ofScenario), ...page.paging };
  }),
];

type InjectInit = MessageInitShape<typeof InjectSchema>;

function ofScenario(row: UpstreamInject): InjectInit {
  return {
    ...told(row, row.inject_injector_contract),
    targetCount: distinct(row.inject_assets) + distinct(row.inject_asset_groups) + distinct(row.inject_teams),
    ...given({
      delaySeconds: row.inject_depends_duration,
      enabled: row.inject_enabled,
      ready: row.inject_ready,
    }),
  };
}

function ofSimulation(row: UpstreamInjectResult, withTargets: boolean): InjectInit {
  const { platforms, ...shared } = told(row, row.inject_injector_contract);
  return {
    ...shared,
    ...(withTargets && {
      platforms,
      results: row.inject_expectation_results.map(toResult),
      targets: toTargets(row.inject_targets),
    }),
    status: enumOf(InjectStatus, row.inject_status?.status_name ?? "DRAFT"),
    ...toOutcomes(row.inject_expectation_results),
    targetCount: row.inject_targets?.length ?? 0,
    ...given({ sentAt: timeOf(row.inject_status?.tracking_sent_date) }),
  };
}

/** The platform names a target once for each domain and tag of the inject. */
function distinct(ids: readonly string[] | null | undefined): number {
  return new Set(ids).size;
}

function told(
  row: { readonly inject_id: string; readonly inject_title: string; readonly inject_type: string | null },
  contract: UpstreamContract | null,
) {
  const labels = contract?.injector_contract_labels ?? {};
  return {
    id: row.inject_id,
    title: row.inject_title,
    type: row.inject_type ?? "",
    action: labels.en ?? Object.values(labels)[0] ?? "",
    platforms: [...(contract?.injector_contract_platforms ?? [])],
  };
}
