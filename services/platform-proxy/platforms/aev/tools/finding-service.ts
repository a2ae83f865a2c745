import type { SearchFindingsRequest } from "#proto/aev/v1/finding_service_pb.js";
import { FindingService } from "#proto/aev/v1/finding_service_pb.js";
import { notFound } from "../../../../shared/rpc/errors.js";
import { unary } from "../../../binding.js";
import { given } from "../../../lib/fields.js";
import { timeOf } from "../../../lib/time.js";
import type { Platform } from "../../../platform.js";
import { instantKey, listPage, type Order } from "../list.js";
import { memberOf, SCENARIO, SIMULATION } from "../member.js";
import { between, oneOf, type Search, searchOnce } from "../search.js";
import { type TenantScope, tenantOf } from "../tenant.js";

interface UpstreamFinding {
  readonly finding_id: string;
  readonly finding_type: string;
  readonly finding_value: string;
  readonly finding_created_at: string;
  readonly finding_assets: readonly { readonly asset_id: string; readonly asset_name: string }[];
  readonly finding_asset_groups?:
    | readonly { readonly asset_group_id: string; readonly asset_group_name: string }[]
    | null;
  readonly finding_inject?: { readonly inject_id: string; readonly inject_title: string } | null;
}

const NEWEST_FIRST: Order<UpstreamFinding> = {
  sorts: [{ property: "finding_created_at", direction: "desc" }],
  keyOf: (row) => instantKey(row.finding_created_at),
};

/** How the tools of this service are answered. */
export const bindings = [
  unary(FindingService.method.searchFindings, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const page = await listPage<UpstreamFinding>(
      platform,
      tenant,
      {
        route: await routeOf(platform, tenant, r.scope),
        idKey: "finding_id",
        query: r.query,
        textsOf: (row) => [row.finding_value],
        filters: [...oneOf("finding_type", r.types), ...between("finding_created_at", r.createdAfter, r.createdBefore)],
        order: NEWEST_FIRST,
        piece: 500,
      },
      r,
    );
    return {
      findings: page.rows.map((row) => ({
        id: row.finding_id,
        type: row.finding_type,
        value: row.finding_value,
        endpoints: row.finding_assets.map((asset) => ({ id: asset.asset_id, name: asset.asset_name })),
        assetGroups: (row.finding_asset_groups ?? []).map((group) => ({
          id: group.asset_group_id,
          name: group.asset_group_name,
        })),
        ...given({ createdAt: timeOf(row.finding_created_at) }),
        ...(row.finding_inject != null && {
          inject: { id: row.finding_inject.inject_id, name: row.finding_inject.inject_title },
        }),
      })),
      ...page.paging,
    };
  }),
];

/**
 * The route of a scope. A filter would not do: only the route of a simulation
 * gives the findings of one that is not its scenario's latest finished one. The
 * platform answers for an unknown object as for one without findings, so it is
 * looked up first.
 */
async function routeOf(
  platform: Platform,
  tenant: TenantScope,
  scope: SearchFindingsRequest["scope"],
): Promise<string> {
  switch (scope.case) {
    case "scenarioId": {
      const { scenario_id } = await memberOf(platform, tenant, SCENARIO, scope.value);
      return `/findings/scenarios/${scenario_id}/search`;
    }
    case "simulationId": {
      const { exercise_id } = await memberOf(platform, tenant, SIMULATION, scope.value);
      return `/findings/exercises/${exercise_id}/search`;
    }
    case "endpointId": {
      const id = scope.value.toLowerCase();
      const search: Search = {
        route: "/endpoints/search",
        idKey: "asset_id",
        filters: oneOf("asset_id", [id]),
        sorts: [{ property: "asset_name", direction: "asc" }],
      };
      const { rows } = await searchOnce(platform, tenant, search, 0, 1);
      if (rows.length === 0) throw notFound(`there is no endpoint ${id} in tenant ${tenant.name}`);
      return `/findings/endpoints/${id}/search`;
    }
    default:
      return "/findings/search";
  }
}
