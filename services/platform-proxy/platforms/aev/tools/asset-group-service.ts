import type { MessageInitShape } from "@bufbuild/protobuf";
import { type AssetGroupSchema, AssetGroupService } from "#proto/aev/v1/asset_group_service_pb.js";
import { notFound } from "../../../../shared/rpc/errors.js";
import { shorten } from "../../../../shared/tools/shorten.js";
import { unary } from "../../../binding.js";
import { objectOf } from "../../../lib/answers.js";
import { given } from "../../../lib/fields.js";
import { writingBack } from "../../../lib/writing-back.js";
import type { Platform } from "../../../platform.js";
import { conditionsOf, filterOf, labelsIn } from "../conditions.js";
import { ENDPOINTS_BY_NAME, toEndpointRow } from "../endpoint.js";
import { ASSET_GROUP } from "../kinds.js";
import { labelIds, labelNames } from "../labels.js";
import { havingOne, listPage, nameKey, type Order } from "../list.js";
import { memberOf } from "../member.js";
import { oneOf, searchAll } from "../search.js";
import { type TenantScope, tenantOf } from "../tenant.js";
import type { UpstreamAssetGroup, UpstreamEndpoint } from "../upstream-content.js";

const BY_NAME: Order<UpstreamAssetGroup> = {
  sorts: [{ property: "asset_group_name", direction: "asc" }],
  keyOf: (row) => nameKey(row.asset_group_name),
  isOurs: true,
};

const { listAssetGroups, getAssetGroup, createAssetGroup, updateAssetGroup, setAssetGroupAssets, deleteAssetGroup } =
  AssetGroupService.method;

/** How the tools of asset groups are answered. */
export const bindings = [
  unary(listAssetGroups, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const page = await listPage<UpstreamAssetGroup>(
      platform,
      tenant,
      {
        route: "/asset_groups/search",
        idKey: "asset_group_id",
        query: r.query,
        // The platform itself looks into names alone.
        told: "",
        textsOf: (row) => [row.asset_group_name, row.asset_group_description],
        having: havingOne((row) => row.asset_group_tags, await labelIds(platform, tenant, r.labels)),
        order: BY_NAME,
        piece: 200,
      },
      r,
    );
    const names = await labelNames(
      platform,
      tenant,
      page.rows.map((row) => row.asset_group_tags),
    );
    const assetGroups = page.rows.map(({ asset_group_dynamic_filter, ...row }) => {
      const group = toAssetGroup({ ...row, asset_group_dynamic_filter: null }, names);
      // A search does not say who meets them: without their number, a group of conditions alone would look empty.
      const conditionCount = asset_group_dynamic_filter?.filters?.length ?? 0;
      return { ...group, description: shorten(group.description), ...(conditionCount > 0 && { conditionCount }) };
    });
    return { assetGroups, ...page.paging };
  }),

  unary(getAssetGroup, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const group = await memberOf(platform, tenant, ASSET_GROUP, r.assetGroupId);
    const page = await listPage<UpstreamEndpoint>(
      platform,
      tenant,
      {
        route: `/asset_groups/${group.asset_group_id}/assets/search`,
        idKey: "asset_id",
        order: ENDPOINTS_BY_NAME,
        piece: 500,
      },
      r,
    );
    const tags = page.rows.map((row) => row.asset_tags);
    const names = await labelNames(platform, tenant, [...tags, group.asset_group_tags, labelsIn(group)]);
    return {
      assetGroup: toAssetGroup(group, names),
      endpoints: page.rows.map((row) => toMember(row, names)),
      ...page.paging,
    };
  }),

  unary(createAssetGroup, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const created = await platform.rest<UpstreamAssetGroup>({
      verb: "POST",
      path: tenant.path("/asset_groups"),
      body: {
        asset_group_name: r.name.trim(),
        asset_group_description: r.description,
        asset_group_tags: await labelIds(platform, tenant, r.labels),
        asset_group_dynamic_filter: await filterOf(platform, tenant, r.conditions, r.matchAny),
      },
    });
    return { assetGroup: await shown(platform, tenant, created) };
  }),

  writingBack(
    updateAssetGroup,
    (r) => [r.assetGroupId],
    async (r, platform) => {
      const tenant = await tenantOf(platform, r.tenantId);
      const before = await memberOf(platform, tenant, ASSET_GROUP, r.assetGroupId);
      const labels = await labelIds(platform, tenant, r.labels);
      const conditions = await filterOf(platform, tenant, r.conditions, r.matchAny ?? false);
      const kept = before.asset_group_dynamic_filter ?? { mode: "and", filters: [] };
      const filters = r.clearConditions || r.conditions.length > 0 ? conditions.filters : kept.filters;
      const answer = await platform.rest<UpstreamAssetGroup>({
        verb: "PUT",
        path: tenant.path(`/asset_groups/${before.asset_group_id}`),
        body: {
          asset_group_name: r.name?.trim() ?? before.asset_group_name,
          asset_group_description: r.description ?? before.asset_group_description,
          asset_group_tags: r.clearLabels || labels.length > 0 ? labels : (before.asset_group_tags ?? []),
          asset_group_dynamic_filter: {
            mode: r.matchAny === undefined ? kept.mode : conditions.mode,
            filters,
          },
        },
      });
      // Of a group whose conditions are cleared it tells once more what met them.
      const changed = (filters ?? []).length > 0 ? answer : { ...answer, asset_group_dynamic_assets: [] };
      return { assetGroup: await shown(platform, tenant, changed) };
    },
  ),

  writingBack(
    setAssetGroupAssets,
    (r) => [r.assetGroupId],
    async (r, platform) => {
      const tenant = await tenantOf(platform, r.tenantId);
      const before = await memberOf(platform, tenant, ASSET_GROUP, r.assetGroupId);
      const wanted = r.endpointIds.map((id) => id.toLowerCase());
      await needEndpoints(platform, tenant, wanted);
      const changed = await platform.rest<UpstreamAssetGroup>({
        verb: "PUT",
        path: tenant.path(`/asset_groups/${before.asset_group_id}/assets`),
        body: { asset_group_assets: wanted },
      });
      const had = before.asset_group_assets ?? [];
      const has = changed.asset_group_assets ?? [];
      return {
        assetGroup: await shown(platform, tenant, changed),
        added: has.filter((id) => !had.includes(id)).length,
        removed: had.filter((id) => !has.includes(id)).length,
      };
    },
  ),

  unary(deleteAssetGroup, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const group = await memberOf(platform, tenant, ASSET_GROUP, r.assetGroupId);
    const { asset_group_id: id, asset_group_name: name } = group;
    await platform.rest<void>({ verb: "DELETE", path: tenant.path(`/asset_groups/${id}`) });
    return { deleted: { id, name } };
  }),
];

/** @throws ConnectError not_found that names every endpoint that there is not: the platform drops them without a word. */
async function needEndpoints(platform: Platform, tenant: TenantScope, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const search = {
    route: "/endpoints/search",
    idKey: "asset_id",
    filters: oneOf("asset_id", ids),
    sorts: ENDPOINTS_BY_NAME.sorts,
  };
  const found = new Set<string>();
  for await (const { asset_id } of searchAll<UpstreamEndpoint>(platform, tenant, search, 1_000)) found.add(asset_id);
  const unknown = ids.filter((id) => !found.has(id));
  if (unknown.length > 0) {
    throw notFound(
      `endpoint_ids: there is no endpoint ${unknown.join(", ")} in tenant ${tenant.name}; nothing was changed`,
    );
  }
}

/** An endpoint of a group: of its agents, whether anything can run there. */
function toMember(row: UpstreamEndpoint, names: (ids: readonly string[] | null | undefined) => string[]) {
  const { agents, ...rest } = toEndpointRow(row, names);
  return { ...rest, agents: agents.map(({ executor, active, elevated }) => ({ executor, active, elevated })) };
}

async function shown(platform: Platform, tenant: TenantScope, answer: UpstreamAssetGroup) {
  const row = objectOf<UpstreamAssetGroup>(platform.server, answer, ASSET_GROUP.idKey);
  return toAssetGroup(row, await labelNames(platform, tenant, [row.asset_group_tags, labelsIn(row)]));
}

function toAssetGroup(
  row: UpstreamAssetGroup,
  names: (ids: readonly string[] | null | undefined) => string[],
): MessageInitShape<typeof AssetGroupSchema> {
  return {
    id: row.asset_group_id,
    name: row.asset_group_name,
    description: row.asset_group_description ?? "",
    labels: names(row.asset_group_tags),
    conditions: conditionsOf(row, names),
    ...(row.asset_group_dynamic_filter?.mode === "or" && { matchAny: true }),
    ...given({
      listedEndpoints: row.asset_group_assets?.length,
      matchingEndpoints: row.asset_group_dynamic_assets?.length,
    }),
  };
}
