import { notFound } from "../../../shared/rpc/errors.js";
import type { Platform } from "../../platform.js";
import { oneOf, type Search, searchAll } from "./search.js";
import type { TenantScope } from "./tenant.js";

/** What an inject is aimed at, by ids. */
export interface Targets {
  readonly endpointIds: readonly string[];
  readonly assetGroupIds: readonly string[];
  readonly teamIds: readonly string[];
}

const MAX_ROWS = 10_000;

/**
 * Confirms that targets lie in the tenant, and gives their ids as the platform
 * has them. It drops ids that it does not know without a word, and takes those
 * of any tenant.
 *
 * @throws ConnectError not_found that names those that are not there, or
 * permission_denied where the caller may not see assets.
 */
export async function targetIds(platform: Platform, tenant: TenantScope, given: Targets): Promise<Targets> {
  return {
    endpointIds: await known(platform, tenant, "endpoint_ids", given.endpointIds, (ids) => ({
      route: "/endpoints/search",
      idKey: "asset_id",
      filters: oneOf("asset_id", ids),
      sorts: [{ property: "asset_name", direction: "asc" }],
    })),
    assetGroupIds: await known(platform, tenant, "asset_group_ids", given.assetGroupIds, () => ({
      route: "/asset_groups/search",
      idKey: "asset_group_id",
      sorts: [{ property: "asset_group_name", direction: "asc" }],
    })),
    teamIds: await teamIds(platform, tenant, given.teamIds),
  };
}

/**
 * The same for teams alone.
 *
 * @throws ConnectError not_found that names those that are not there.
 */
export function teamIds(platform: Platform, tenant: TenantScope, ids: readonly string[]): Promise<string[]> {
  return known(platform, tenant, "team_ids", ids, () => ({
    route: "/teams/search",
    idKey: "team_id",
    sorts: [{ property: "team_name", direction: "asc" }],
  }));
}

async function known(
  platform: Platform,
  tenant: TenantScope,
  argument: string,
  given: readonly string[],
  searchOf: (ids: readonly string[]) => Search,
): Promise<string[]> {
  if (given.length === 0) return [];
  const ids = [...new Set(given.map((id) => id.toLowerCase()))];
  const search = searchOf(ids);
  const missing = new Set(ids);
  for await (const row of searchAll<Record<string, string>>(platform, tenant, search, MAX_ROWS)) {
    missing.delete(row[search.idKey] ?? "");
    if (missing.size === 0) return ids;
  }
  throw notFound(`${argument}: there is no ${[...missing].join(", ")} in tenant ${tenant.name}`);
}
