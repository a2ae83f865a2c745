import { AssetService, EndpointPlatform, type ListEndpointsRequest } from "#proto/aev/v1/asset_service_pb.js";
import { resourceExhausted } from "../../../../shared/rpc/errors.js";
import { unary } from "../../../binding.js";
import { listOf, objectOf } from "../../../lib/answers.js";
import { inTurns } from "../../../lib/in-turns.js";
import { writingBack } from "../../../lib/writing-back.js";
import type { Platform } from "../../../platform.js";
import { ENDPOINTS_BY_NAME, platformWord, toEndpoint, toEndpointRow } from "../endpoint.js";
import { incompleteRead } from "../errors.js";
import { ENDPOINT } from "../kinds.js";
import { labelIds, labelNames } from "../labels.js";
import { type Having, havingOne, listPage } from "../list.js";
import { memberOf } from "../member.js";
import { type Filter, isTruthWord, oneOf, searchAll } from "../search.js";
import { type TenantScope, tenantOf } from "../tenant.js";
import type { UpstreamEndpoint } from "../upstream-content.js";

/** What only a read by id tells. */
interface UpstreamDetails {
  readonly endpoint_hostname?: string | null;
  readonly endpoint_ips?: readonly string[] | null;
}

const { listEndpoints, getEndpoint, createEndpoint, updateEndpoint, deleteEndpoint } = AssetService.method;

/** How the tools of endpoints are answered. */
export const bindings = [
  unary(listEndpoints, async (r, platform) => {
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
        order: ENDPOINTS_BY_NAME,
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
      endpoints: page.rows.map((row) => toEndpointRow(row, names)),
      ...page.paging,
    };
  }),

  unary(getEndpoint, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    return { endpoint: await shown(platform, tenant, await memberOf(platform, tenant, ENDPOINT, r.endpointId)) };
  }),

  unary(createEndpoint, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const created = await platform.rest<UpstreamEndpoint>({
      verb: "POST",
      path: tenant.path("/endpoints/agentless"),
      body: {
        asset_name: r.name.trim(),
        asset_description: r.description,
        asset_tags: await labelIds(platform, tenant, r.labels),
        endpoint_hostname: r.hostname.trim(),
        endpoint_platform: platformWord(r.platform),
        endpoint_arch: r.arch,
        endpoint_ips: r.ips,
        endpoint_mac_addresses: r.macAddresses.map(plainMac),
        endpoint_is_eol: r.endOfLife,
      },
    });
    return { endpoint: await shown(platform, tenant, created) };
  }),

  writingBack(
    updateEndpoint,
    (r) => [r.endpointId],
    async (r, platform) => {
      const tenant = await tenantOf(platform, r.tenantId);
      const { asset_id: id } = await memberOf(platform, tenant, ENDPOINT, r.endpointId);
      const labels = await labelIds(platform, tenant, r.labels);
      const before = await entityOf(platform, tenant, id);
      const changed = await platform.rest<UpstreamEndpoint>({
        verb: "PUT",
        path: tenant.path(`/endpoints/${id}`),
        body: {
          asset_name: r.name?.trim() ?? before.asset_name,
          asset_description: r.description ?? before.asset_description,
          asset_external_reference: before.asset_external_reference,
          asset_tags: r.clearLabels || labels.length > 0 ? labels : (before.asset_tags ?? []),
          endpoint_hostname: r.hostname?.trim() ?? before.endpoint_hostname,
          endpoint_platform: r.platform === undefined ? before.endpoint_platform : platformWord(r.platform),
          endpoint_arch: r.arch ?? before.endpoint_arch,
          endpoint_ips: r.clearIps || r.ips.length > 0 ? r.ips : (before.endpoint_ips ?? []),
          endpoint_mac_addresses:
            r.clearMacAddresses || r.macAddresses.length > 0
              ? r.macAddresses.map(plainMac)
              : (before.endpoint_mac_addresses ?? []),
          endpoint_is_eol: r.endOfLife ?? before.endpoint_is_eol ?? false,
        },
      });
      return { endpoint: await shown(platform, tenant, changed) };
    },
  ),

  unary(deleteEndpoint, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const { asset_id: id, asset_name: name } = await memberOf(platform, tenant, ENDPOINT, r.endpointId);
    await platform.rest<void>({ verb: "DELETE", path: tenant.path(`/endpoints/${id}`) });
    return { deleted: { id, name } };
  }),
];

async function shown(platform: Platform, tenant: TenantScope, answer: UpstreamEndpoint) {
  const row = objectOf<UpstreamEndpoint>(platform.server, answer, ENDPOINT.idKey);
  return toEndpoint(row, await labelNames(platform, tenant, [row.asset_tags]));
}

interface UpstreamEntity extends UpstreamEndpoint {
  readonly asset_external_reference: string | null;
}

/** Every field that a PUT would clear if it were left out: a read by id leaves out what an agent is known by. */
async function entityOf(platform: Platform, tenant: TenantScope, id: string): Promise<UpstreamEntity> {
  const path = tenant.path("/endpoints/find");
  const found = await platform.rest<unknown>({ verb: "POST", path, body: [id], read: true });
  const [entity] = listOf<UpstreamEntity>(platform.server, found);
  if (entity?.asset_external_reference === undefined) {
    throw incompleteRead();
  }
  return entity;
}

/** A hardware address as the platform keeps it. */
function plainMac(address: string): string {
  return address.toLowerCase().replace(/[:-]/g, "");
}

/** The most endpoints whose addresses are read one by one. */
const MAX_CONFIRMED = 200;

/** What the platform can narrow a search to by host name and address. */
function narrowing({ hostname, ip }: ListEndpointsRequest): Filter[] {
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
  r: ListEndpointsRequest,
): Promise<Having<UpstreamEndpoint>[]> {
  const { hostname, ip } = r;
  if (ip === undefined && !isTruthWord([hostname ?? ""])) return [];
  const search = {
    route: "/endpoints/search",
    idKey: "asset_id",
    filters: narrowing(r),
    sorts: ENDPOINTS_BY_NAME.sorts,
  };
  const candidates: string[] = [];
  for await (const row of searchAll<UpstreamEndpoint>(platform, tenant, search, MAX_CONFIRMED + 1)) {
    candidates.push(row.asset_id);
  }
  if (candidates.length > MAX_CONFIRMED) {
    throw resourceExhausted(
      `more than ${MAX_CONFIRMED} endpoints have an address or host name that contains ${ip ?? hostname}; narrow the search by query, platforms or labels`,
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
