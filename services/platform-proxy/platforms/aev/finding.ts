import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { FindingSchema } from "#proto/aev/v1/finding_service_pb.js";
import { notFound } from "../../../shared/rpc/errors.js";
import { objectOf } from "../../lib/answers.js";
import { given } from "../../lib/fields.js";
import { inTurns } from "../../lib/in-turns.js";
import { timeOf } from "../../lib/time.js";
import type { Platform } from "../../platform.js";
import { oneOf, searchAll } from "./search.js";
import type { TenantScope } from "./tenant.js";

/** A finding as a search tells it. */
export interface UpstreamFinding {
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

/** What only a read by id, or a write, tells of a finding. */
export interface UpstreamFindingDetails {
  readonly finding_id: string;
  readonly finding_type: string;
  readonly finding_field: string;
  readonly finding_value: string;
  readonly finding_labels: readonly string[] | null;
  /** The ids of its endpoints. */
  readonly finding_assets?: readonly string[] | null;
  /** The ids of its asset groups. */
  readonly finding_asset_groups?: readonly string[] | null;
  readonly finding_inject_id: string | null;
  readonly finding_updated_at: string | null;
  readonly finding_simulation?: { readonly exercise_id: string; readonly exercise_name: string } | null;
  readonly finding_scenario?: { readonly scenario_id: string; readonly scenario_name: string } | null;
}

/** A finding as a search and a read together tell it. */
export type WholeFinding = UpstreamFinding & Omit<UpstreamFindingDetails, "finding_assets" | "finding_asset_groups">;

const MAX_OF_INJECT = 5_000;

/**
 * Reads a finding, and confirms that it lies in the tenant: it must come up
 * among those of the latest simulations there, or among those of its inject.
 *
 * @throws ConnectError not_found.
 */
export async function findingOf(platform: Platform, tenant: TenantScope, findingId: string): Promise<WholeFinding> {
  const id = findingId.toLowerCase();
  try {
    const path = tenant.path(`/findings/${id}`);
    const answer = await platform.rest({ verb: "GET", path });
    const details = objectOf<UpstreamFindingDetails>(platform.server, answer, "finding_id");
    const { finding_inject_id: inject } = details;
    const row =
      (await rowAmong(platform, tenant, "/findings/search", details)) ??
      (inject == null ? undefined : await rowAmong(platform, tenant, `/findings/injects/${inject}/search`, details));
    if (row !== undefined) {
      const [whole] = await withTargets(platform, tenant, [row], [details]);
      const { finding_asset_groups: _, ...own } = details;
      return { ...own, ...whole! };
    }
  } catch (error) {
    const isMissing =
      error instanceof ConnectError &&
      (error.code === Code.NotFound || /OBSERVER on|own rights/.test(error.rawMessage));
    if (!isMissing) throw error;
  }
  throw notFound(`there is no finding ${id} in tenant ${tenant.name} that this account may read`);
}

async function rowAmong(
  platform: Platform,
  tenant: TenantScope,
  route: string,
  { finding_id: id, finding_inject_id: inject }: UpstreamFindingDetails,
): Promise<UpstreamFinding | undefined> {
  const search = {
    route,
    idKey: "finding_id",
    filters: oneOf("finding_inject_id", inject == null ? [] : [inject]),
    sorts: [{ property: "finding_created_at", direction: "desc" }],
  } as const;
  for await (const row of searchAll<UpstreamFinding>(platform, tenant, search, MAX_OF_INJECT)) {
    if (row.finding_id === id) return row;
  }
  return undefined;
}

/**
 * Findings with all their endpoints and asset groups: the platform's searches leave some of them out, and do not say
 * which. Each finding is read for the ids, and what no row names is looked up.
 *
 * @param read what is known already of some that were read.
 */
export async function withTargets(
  platform: Platform,
  tenant: TenantScope,
  rows: readonly UpstreamFinding[],
  read: readonly UpstreamFindingDetails[] = [],
): Promise<UpstreamFinding[]> {
  const details = await inTurns(rows, async ({ finding_id: id }) => {
    const known = read.find((one) => one.finding_id === id);
    if (known !== undefined) return known;
    const path = tenant.path(`/findings/${id}`);
    // It may have been deleted since it was listed, or a grant may not be enough to read it.
    const answer = await platform.rest({ verb: "GET", path }).catch(unlessMissing);
    return answer === undefined ? undefined : objectOf<UpstreamFindingDetails>(platform.server, answer, "finding_id");
  });
  const assetIds = details.map((one) => one?.finding_assets ?? []);
  const groupIds = details.map((one) => one?.finding_asset_groups ?? []);
  const assets = new Map(rows.flatMap((row) => row.finding_assets).map((one) => [one.asset_id, one]));
  const groups = new Map(rows.flatMap((row) => row.finding_asset_groups ?? []).map((one) => [one.asset_group_id, one]));
  const unnamed = unknownTo(assets, assetIds);
  if (unnamed.length > 0) {
    const filters = oneOf("asset_id", unnamed);
    const search = { route: "/endpoints/search", idKey: "asset_id", filters, sorts: BY_ASSET_NAME } as const;
    for await (const one of searchAll<NamedAsset>(platform, tenant, search, unnamed.length)) {
      assets.set(one.asset_id, { asset_id: one.asset_id, asset_name: one.asset_name });
    }
  }
  if (unknownTo(groups, groupIds).length > 0) {
    const search = { route: "/asset_groups/search", idKey: "asset_group_id", sorts: BY_GROUP_NAME } as const;
    for await (const one of searchAll<NamedGroup>(platform, tenant, search, MAX_GROUPS)) {
      groups.set(one.asset_group_id, { asset_group_id: one.asset_group_id, asset_group_name: one.asset_group_name });
    }
  }
  return rows.map((row, i) => ({
    ...row,
    finding_assets: joined(row.finding_assets, "asset_id", assetIds[i]!, assets),
    finding_asset_groups: joined(row.finding_asset_groups ?? [], "asset_group_id", groupIds[i]!, groups),
  }));
}

const unknownTo = (known: ReadonlyMap<string, unknown>, ids: readonly (readonly string[])[]): string[] => [
  ...new Set(ids.flat().filter((id) => !known.has(id))),
];

/** What a row names, and then what only the read has. */
function joined<Key extends string, Named extends Readonly<Record<Key, string>>>(
  told: readonly Named[],
  key: Key,
  ids: readonly string[],
  names: ReadonlyMap<string, Named>,
): Named[] {
  const more = ids.filter((id) => !told.some((one) => one[key] === id)).flatMap((id) => names.get(id) ?? []);
  return [...told, ...more];
}

const MAX_GROUPS = 10_000;
const BY_GROUP_NAME = [{ property: "asset_group_name", direction: "asc" }] as const;

type NamedGroup = NonNullable<UpstreamFinding["finding_asset_groups"]>[number];

type NamedAsset = UpstreamFinding["finding_assets"][number];

const BY_ASSET_NAME = [{ property: "asset_name", direction: "asc" }] as const;

function unlessMissing(error: unknown): undefined {
  if (error instanceof ConnectError && (error.code === Code.NotFound || error.code === Code.PermissionDenied)) return;
  throw error;
}

/** A finding as a row of a search. */
export function toFindingRow(row: UpstreamFinding) {
  return {
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
  } satisfies MessageInitShape<typeof FindingSchema>;
}

/** A finding as what reads one shows it. */
export function toFinding(row: WholeFinding): MessageInitShape<typeof FindingSchema> {
  const { finding_simulation: simulation, finding_scenario: scenario } = row;
  return {
    ...toFindingRow(row),
    field: row.finding_field,
    notes: [...(row.finding_labels ?? [])],
    ...given({ updatedAt: timeOf(row.finding_updated_at) }),
    ...(simulation != null && { simulation: { id: simulation.exercise_id, name: simulation.exercise_name } }),
    ...(scenario != null && { scenario: { id: scenario.scenario_id, name: scenario.scenario_name } }),
  };
}
