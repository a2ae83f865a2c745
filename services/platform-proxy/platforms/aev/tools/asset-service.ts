import { AssetService, EndpointPlatform, type SearchEndpointsRequest } from "#proto/aev/v1/asset_service_pb.js";
import { resourceExhausted } from "../../../../shared/rpc/errors.js";
import { unary } from "../../../binding.js";
import { given } from "../../../lib/fields.js";
import { inTurns } from "../../../lib/in-turns.js";
import { timeOf } from "../../../lib/time.js";
import { enumOf } from "../../../lib/words.js";
import type { Platform } from "../../../platform.js";
import { labelIds, labelNames } from "../labels.js";
import { type Having, havingOne, listPage, nameKey, type Order } from "../list.js";
import { type Filter, isTruthWord, oneOf, searchAll } from "../search.js";
import { type TenantScope, tenantOf } from "../tenant.js";

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

/** What only a read by id tells. */
interface UpstreamDetails {
  readonly endpoint_hostname?: string | null;
  readonly endpoint_ips?: readonly string[] | null;
}

const BY_NAME: Order<UpstreamEndpoint> = {
  sorts: [
    { property: "asset_name", direction: "asc" },
    { property: "endpoint_hostname", direction: "asc" },
    { property: "asset_external_reference", direction: "asc" },
  ],
  keyOf: (row) => nameKey(row.asset_name),
  isOurs: true,
};

/** How the tools of this service are answered. */
export const bindings = [
  unary(AssetService.method.searchEndpoints, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const page = await listPage<UpstreamEndpoint>(
      platform,
      tenant,
      {
        route: "/endpoints/search",
        idKey: "asset_id",
        query: r.query,
        textsOf: (row) => [row.asset_name],
        having: [
          ...havingOne<UpstreamEndpoint>((row) => row.asset_tags, await labelIds(platform, tenant, r.labels)),
          ...(await confirmed(platform, tenant, r)),
        ],
        filters: [
          ...oneOf(
            "endpoint_platform",
            r.platforms.map((value) => EndpointPlatform[value] as string),
          ),
          ...narrowing(r),
        ],
        order: BY_NAME,
        piece: 500,
      },
      r,
    );
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

/** The most endpoints whose addresses are read one by one. */
const MAX_CONFIRMED = 200;

/** What the platform can narrow a search to by host name and address. */
function narrowing({ hostname, ip }: SearchEndpointsRequest): Filter[] {
  return [
    ...oneOf(
      "endpoint_hostname",
      hostname === undefined ? [] : [hostname],
      isTruthWord([hostname ?? ""]) ? "contains" : "eq",
    ),
    ...oneOf("endpoint_ips", ip === undefined ? [] : [ip], "contains"),
  ];
}

/**
 * The endpoints that have an address or a host name, where the platform finds
 * longer ones that hold it too: its rows do not tell, so each is read.
 */
async function confirmed(
  platform: Platform,
  tenant: TenantScope,
  r: SearchEndpointsRequest,
): Promise<Having<UpstreamEndpoint>[]> {
  const { hostname, ip } = r;
  if (ip === undefined && !isTruthWord([hostname ?? ""])) return [];
  const search = { route: "/endpoints/search", idKey: "asset_id", filters: narrowing(r), sorts: BY_NAME.sorts };
  const candidates: string[] = [];
  for await (const row of searchAll<UpstreamEndpoint>(platform, tenant, search, MAX_CONFIRMED + 1)) {
    candidates.push(row.asset_id);
  }
  if (candidates.length > MAX_CONFIRMED) {
    throw resourceExhausted(
      `more than ${MAX_CONFIRMED} endpoints hold ${ip ?? hostname} in a longer one; narrow the search by query, platforms or labels`,
    );
  }
  const values = await inTurns(candidates, async (id) => {
    const one = await platform.rest<UpstreamDetails>({ verb: "GET", path: tenant.path(`/endpoints/${id}`) });
    const isAt = ip === undefined || one.endpoint_ips?.some((held) => held.toLowerCase() === ip.toLowerCase());
    return isAt && (hostname === undefined || one.endpoint_hostname?.toLowerCase() === hostname.toLowerCase())
      ? [id]
      : [];
  });
  return [{ of: (row) => row.asset_id, values: values.flat() }];
}
