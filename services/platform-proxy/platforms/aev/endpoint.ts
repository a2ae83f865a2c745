import type { MessageInitShape } from "@bufbuild/protobuf";
import { EndpointPlatform, type EndpointSchema } from "#proto/aev/v1/asset_service_pb.js";
import { given } from "../../lib/fields.js";
import { timeOf } from "../../lib/time.js";
import { enumOf } from "../../lib/words.js";
import { nameKey, type Order } from "./list.js";
import type { UpstreamEndpoint } from "./upstream-content.js";

/** Endpoints in the order of their names. */
export const ENDPOINTS_BY_NAME: Order<UpstreamEndpoint> = {
  sorts: [
    { property: "asset_name", direction: "asc" },
    { property: "endpoint_hostname", direction: "asc" },
    { property: "asset_external_reference", direction: "asc" },
  ],
  keyOf: (row) => nameKey(row.asset_name),
  isOurs: true,
};

type Names = (ids: readonly string[] | null | undefined) => string[];

/** The platform's own words for systems, which it takes as it writes them. */
const PLATFORMS: Readonly<Record<string, string>> = { MACOS: "MacOS" };

/** The platform's word for a system. */
export function platformWord(platform: EndpointPlatform): string {
  const name = EndpointPlatform[platform] as string;
  return PLATFORMS[name] ?? `${name.charAt(0)}${name.slice(1).toLowerCase()}`;
}

/**
 * An endpoint as a row of a search.
 *
 * @param names gives the names of labels by their ids.
 */
export function toEndpointRow(row: UpstreamEndpoint, names: Names) {
  return {
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
  } satisfies MessageInitShape<typeof EndpointSchema>;
}

/**
 * An endpoint as what reads one shows it.
 *
 * @param names gives the names of labels by their ids.
 */
export function toEndpoint(row: UpstreamEndpoint, names: Names): MessageInitShape<typeof EndpointSchema> {
  return {
    ...toEndpointRow(row, names),
    description: row.asset_description ?? "",
    hostname: row.endpoint_hostname ?? "",
    ips: [...(row.endpoint_ips ?? [])].sort(),
    seenIp: row.endpoint_seen_ip ?? "",
    macAddresses: [...(row.endpoint_mac_addresses ?? [])].sort(),
    endOfLife: row.endpoint_is_eol ?? false,
  };
}
