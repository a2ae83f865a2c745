import { AssetService, AssetType } from "#proto/grc/v1/asset_service_pb.js";
import { unary } from "../../../binding.js";
import type { Query } from "../../../lib/http.js";
import { type PageRequest, type Place, pagingOf } from "../../../lib/pages.js";
import { writingBack } from "../../../lib/writing-back.js";
import type { Platform } from "../../../platform.js";
import {
  ASSETS,
  assetFieldsOf,
  assetOf,
  assetRowOf,
  parentsOf,
  TYPES,
  type UpstreamAsset,
  type UpstreamAssetRow,
} from "../asset.js";
import { pageByTime, readByTime } from "../by-time.js";
import { pageOf, queriesOf, type Rows, readAll } from "../lists.js";
import { holds, searchOf, wordsIn } from "../search-words.js";
import { domainIdsOf, domainOf, inTenant, readOwned, readShared, type Tenant } from "../tenancy.js";
import { change, create, linksOf, remove, replacedIn } from "../writes.js";

/** How the tools of this service are answered. */
export const bindings = [
  unary(AssetService.method.listPrimaryAssets, (r, platform) =>
    inTenant(platform, r.tenantId, (tenant) => listAssets(platform, tenant, r, AssetType.PRIMARY, undefined)),
  ),

  unary(AssetService.method.listSupportingAssets, (r, platform) =>
    inTenant(platform, r.tenantId, (tenant) => listAssets(platform, tenant, r, AssetType.SUPPORTING, r.primaryAssetId)),
  ),

  unary(AssetService.method.getAsset, (r, platform) =>
    inTenant(platform, r.tenantId, async (tenant) => ({
      asset: assetOf(await readShared<UpstreamAsset>(platform, ASSETS, r.assetId, "asset_id", tenant)),
    })),
  ),

  unary(AssetService.method.createAsset, (r, asked) =>
    inTenant(asked, r.tenantId, async (tenant, platform) => {
      const folder = domainOf(tenant, r.domainId);
      const links = await linksOf(platform, parentsOf(r), tenant);
      const id = await create(platform, ASSETS, { ...assetFieldsOf(r), ...links, folder });
      return { asset: assetOf(await readOwned(platform, ASSETS, id, "asset_id", tenant)) };
    }),
  ),

  writingBack(
    AssetService.method.updateAsset,
    (r) => [r.assetId],
    (r, asked) =>
      inTenant(asked, r.tenantId, async (tenant, platform) => {
        const before = await readOwned<UpstreamAsset>(platform, ASSETS, r.assetId, "asset_id", tenant);
        const links = await replacedIn(platform, before, parentsOf(r), tenant);
        const body = { ...assetFieldsOf(r), ...links };
        return { asset: assetOf(await change<UpstreamAsset>(platform, ASSETS, before, "asset_id", body, tenant)) };
      }),
  ),

  unary(AssetService.method.deleteAsset, (r, asked) =>
    inTenant(asked, r.tenantId, (tenant, platform) => remove(platform, ASSETS, r.assetId, "asset_id", tenant)),
  ),
];

type Asked = PageRequest & { readonly $typeName: string; readonly query?: string | undefined };

async function listAssets(platform: Platform, tenant: Tenant, r: Asked, type: AssetType, carried: string | undefined) {
  const page = pageOf(r, tenant.id);
  const parent = carried && (await readShared(platform, ASSETS, carried, "primary_asset_id", tenant)).id;
  const query = { type: TYPES[type], parent_assets: parent || undefined, search: searchOf(r.query) };
  const queries = queriesOf(query, "folder", domainIdsOf(tenant));
  const listed = isInADomainsName(r.query, tenant)
    ? await readHolding(platform, queries, r.query!, page, tenant)
    : await readByTime<UpstreamAssetRow>(platform, ASSETS, queries, "newest", page, tenant);
  return { assets: listed.rows.map(assetRowOf), ...pagingOf(page, listed) };
}

/** Whether the platform would find assets by the name of their domain, where it looks as well. */
function isInADomainsName(query: string | undefined, { domains }: Tenant): boolean {
  const names = [...domains.values()].map(({ name }) => name.toLowerCase());
  return query !== undefined && wordsIn(query).some((word) => names.some((name) => name.includes(word)));
}

/** The page of those that hold the words themselves. */
async function readHolding(
  platform: Platform,
  queries: readonly Query[],
  words: string,
  page: Place,
  tenant: Tenant,
): Promise<Rows<UpstreamAssetRow>> {
  const all = await readAll<UpstreamAssetRow>(platform, ASSETS, queries, tenant);
  const isMeant = ({ name, description, ref_id }: UpstreamAssetRow) => holds(words, [name, description, ref_id]);
  return pageByTime(all.filter(isMeant), "newest", page);
}
