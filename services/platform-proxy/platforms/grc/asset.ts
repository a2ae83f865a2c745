import type { MessageInitShape } from "@bufbuild/protobuf";
import { type AssetSchema, AssetType } from "#proto/grc/v1/asset_service_pb.js";
import { given } from "../../lib/fields.js";
import { timeOf } from "../../lib/time.js";
import type { Dated } from "./by-time.js";
import { type Related, referenceOf, referencesOf } from "./upstream.js";
import { emptied, linkOf, type Replacement } from "./writes.js";

/** An asset as a list of the platform shows it. */
export interface UpstreamAssetRow extends Dated {
  readonly ref_id: string | null;
  readonly name: string;
  readonly description: string | null;
  readonly parent_assets: readonly Related[];
}

/** An asset as it is read by itself. */
export interface UpstreamAsset extends UpstreamAssetRow {
  /** A label. */
  readonly type: string;
  readonly reference_link: string | null;
  readonly observation: string | null;
  /** Those that name it as a parent; the platform's other list of them, children_assets, tells names that it hides here. */
  readonly support_assets?: readonly Related[];
  readonly owner: readonly Related[];
  readonly applied_controls?: readonly Related[];
  /** One name each, with its step of the scale. */
  readonly security_objectives?: readonly Readonly<Record<string, unknown>>[];
  readonly updated_at: string;
}

/** The list of assets. */
export const ASSETS = "/api/assets/";

/** The platform's codes. */
export const TYPES: Readonly<Record<AssetType, string | undefined>> = {
  [AssetType.UNSPECIFIED]: undefined,
  [AssetType.PRIMARY]: "PR",
  [AssetType.SUPPORTING]: "SP",
};

/** An asset as a row of a list. */
export function assetRowOf(upstream: UpstreamAssetRow) {
  const { id, name, ref_id: refId, folder } = upstream;
  const parents = referencesOf(upstream.parent_assets);
  return {
    id,
    name,
    ...given({ refId }),
    ...(folder.id !== undefined && { domain: { id: folder.id } }),
    parents: parents.seen,
    ...(parents.hidden > 0 && { hiddenLinks: parents.hidden }),
  } satisfies MessageInitShape<typeof AssetSchema>;
}

/** An asset as tools show it. */
export function assetOf(upstream: UpstreamAsset) {
  const parents = referencesOf(upstream.parent_assets);
  const children = referencesOf(upstream.support_assets);
  const owners = referencesOf(upstream.owner);
  const controls = referencesOf(upstream.applied_controls);
  const hidden = parents.hidden + children.hidden + owners.hidden + controls.hidden;
  return {
    id: upstream.id,
    name: upstream.name,
    type: /^primary$/i.test(upstream.type) ? AssetType.PRIMARY : AssetType.SUPPORTING,
    ...given({
      refId: upstream.ref_id,
      description: upstream.description,
      link: upstream.reference_link,
      observation: upstream.observation,
      domain: referenceOf(upstream.folder),
      updatedAt: timeOf(upstream.updated_at),
    }),
    parents: parents.seen,
    children: children.seen,
    owners: owners.seen,
    controls: controls.seen,
    securityObjectives: (upstream.security_objectives ?? []).flatMap((one) =>
      Object.entries(one).map(([name, value]) => ({ name, value: String(value) })),
    ),
    ...(hidden > 0 && { hiddenLinks: hidden }),
  } satisfies MessageInitShape<typeof AssetSchema>;
}

/** What of an asset can be written. */
export interface AssetFields {
  readonly name?: string | undefined;
  readonly type?: AssetType | undefined;
  readonly description?: string | undefined;
  readonly refId?: string | undefined;
  readonly link?: string | undefined;
  readonly observation?: string | undefined;
  readonly parentAssetIds: readonly string[];
  readonly clearParentAssets?: boolean;
}

/** The platform's names and codes for the fields given, but for its parents. */
export function assetFieldsOf(r: AssetFields): Record<string, unknown> {
  return {
    name: r.name,
    type: r.type === undefined ? undefined : TYPES[r.type],
    description: emptied(r.description),
    // It takes no null for this one.
    ref_id: r.refId,
    reference_link: linkOf(r.link),
    observation: emptied(r.observation),
  };
}

/** Its parents. */
export function parentsOf(r: AssetFields): readonly Replacement[] {
  const { parentAssetIds: ids, clearParentAssets: clear = false } = r;
  return [{ field: "parent_assets", path: ASSETS, argument: "parent_asset_ids", ids, clear }];
}
