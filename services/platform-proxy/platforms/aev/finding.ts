import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { FindingSchema } from "#proto/aev/v1/finding_service_pb.js";
import { notFound } from "../../../shared/rpc/errors.js";
import { objectOf } from "../../lib/answers.js";
import { given } from "../../lib/fields.js";
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
  readonly finding_inject_id: string | null;
  readonly finding_updated_at: string | null;
  readonly finding_simulation?: { readonly exercise_id: string; readonly exercise_name: string } | null;
  readonly finding_scenario?: { readonly scenario_id: string; readonly scenario_name: string } | null;
}

const MAX_OF_INJECT = 5_000;

/**
 * Reads a finding, and confirms that it lies in the tenant: it must come up
 * among those of the latest simulations there, or among those of its inject.
 *
 * @throws ConnectError not_found.
 */
export async function findingOf(
  platform: Platform,
  tenant: TenantScope,
  findingId: string,
): Promise<UpstreamFinding & UpstreamFindingDetails> {
  const id = findingId.toLowerCase();
  try {
    const path = tenant.path(`/findings/${id}`);
    const answer = await platform.rest({ verb: "GET", path });
    const details = objectOf<UpstreamFindingDetails>(platform.server, answer, "finding_id");
    const { finding_inject_id: inject } = details;
    const row =
      (await rowAmong(platform, tenant, "/findings/search", details)) ??
      (inject == null ? undefined : await rowAmong(platform, tenant, `/findings/injects/${inject}/search`, details));
    if (row !== undefined) return { ...details, ...row };
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
export function toFinding(row: UpstreamFinding & UpstreamFindingDetails): MessageInitShape<typeof FindingSchema> {
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
