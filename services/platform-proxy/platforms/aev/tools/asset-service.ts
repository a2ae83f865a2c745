import { AssetService, EndpointPlatform } from "#proto/aev/v1/asset_service_pb.js";
import { unary } from "../../../binding.js";
import { given } from "../../../lib/fields.js";
import { timeOf } from "../../../lib/time.js";
import { enumOf } from "../../../lib/words.js";
import { labelFilter, labelNames } from "../labels.js";
import { oneOf, type Search, searchPage } from "../search.js";
import { tenantOf } from "../tenant.js";

interface UpstreamEndpoint {
  readonly asset_id: string;
  readonly asset_name: string;
  readonly endpoint_platform: string;
  readonly endpoint_arch: string;
  readonly asset_tags: readonly string[] | null;
  readonly asset_agents: readonly {
    readonly agent_active: boolean;
    readonly agent_privilege: string;
    readonly agent_last_seen: string | null;
    readonly agent_version: string | null;
    readonly agent_executor: { readonly executor_name: string } | null;
  }[];
}

/** How the tools of this service are answered. */
export const bindings = [
  unary(AssetService.method.searchEndpoints, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const search: Search = {
      route: "/endpoints/search",
      idKey: "asset_id",
      query: r.query,
      filters: [
        ...oneOf(
          "endpoint_platform",
          r.platforms.map((value) => EndpointPlatform[value] as string),
        ),
        ...oneOf("endpoint_hostname", r.hostname === undefined ? [] : [r.hostname]),
        ...oneOf("endpoint_ips", r.ip === undefined ? [] : [r.ip], "contains"),
        ...(await labelFilter(platform, tenant, "asset_tags", r.labels)),
      ],
      sorts: [{ property: "asset_name", direction: "asc" }],
    };
    const page = await searchPage<UpstreamEndpoint>(platform, tenant, search, r);
    const names = await labelNames(
      platform,
      tenant,
      page.rows.map((row) => row.asset_tags),
    );
    return {
      endpoints: page.rows.map((row) => ({
        id: row.asset_id,
        name: row.asset_name,
        platform: enumOf(EndpointPlatform, row.endpoint_platform),
        arch: row.endpoint_arch,
        labels: names(row.asset_tags),
        agents: row.asset_agents.map((agent) => ({
          executor: agent.agent_executor?.executor_name ?? "",
          active: agent.agent_active,
          elevated: agent.agent_privilege === "admin",
          version: agent.agent_version ?? "",
          ...given({ lastSeenAt: timeOf(agent.agent_last_seen) }),
        })),
      })),
      ...page.paging,
    };
  }),
];
