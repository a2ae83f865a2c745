import type { JsonObject } from "@bufbuild/protobuf";
import type { UpdateInjectRequest } from "#proto/aev/v1/inject_service_pb.js";
import type { Platform } from "../../platform.js";
import type { UpstreamInjectRead } from "./inject.js";
import { contractOf, type UpstreamContractDetails } from "./injector-contract.js";
import { labelIds } from "./labels.js";
import { targetIds } from "./targets.js";
import type { TenantScope } from "./tenant.js";

/** What the platform finds wrong with an inject or scenario. */
export interface HealthCheck {
  readonly type: string;
  readonly detail: string;
  readonly status: string;
}

/**
 * Whether a problem keeps an inject from running. What the platform only warns of does not, nor does its error that
 * no collector of a security system is there: the inject runs, and nobody sees whether it was detected.
 */
export function isBlocking({ type, status }: HealthCheck): boolean {
  return status === "ERROR" && type.toUpperCase() !== "SECURITY_SYSTEM_COLLECTOR";
}

/** What keeps an inject from running, in words. */
export function lacksOf(checks: readonly HealthCheck[] | null | undefined): string[] {
  return (checks ?? [])
    .filter(isBlocking)
    .map(({ type, detail }) => `${type}: ${detail}`.toLowerCase().replaceAll("_", " "));
}

/** The fields of an update that say what an inject does and to whom; every one may be left out. */
type Changes = Pick<
  UpdateInjectRequest,
  | "title"
  | "description"
  | "injectorContractId"
  | "content"
  | "delaySeconds"
  | "endpointIds"
  | "assetGroupIds"
  | "teamIds"
  | "labels"
  | "allTeams"
  | "clearEndpoints"
  | "clearAssetGroups"
  | "clearTeams"
  | "clearLabels"
>;

/**
 * Everything that a write of an inject replaces: what is to change, and the
 * rest as it is, since what is left out becomes empty.
 *
 * @throws ConnectError not_found for a target, label or contract that the tenant has not.
 */
export async function fieldsOf(
  platform: Platform,
  tenant: TenantScope,
  row: UpstreamInjectRead,
  r: Changes,
): Promise<Record<string, unknown>> {
  const targets = await targetIds(platform, tenant, r);
  const labels = await labelIds(platform, tenant, r.labels);
  const changed = (given: readonly string[], clear: boolean, before: readonly string[] | null) =>
    clear || given.length > 0 ? given : [...new Set(before ?? [])];
  const other =
    r.injectorContractId === undefined ? undefined : await contractOf(platform, tenant, r.injectorContractId);
  return {
    inject_title: r.title?.trim() ?? row.inject_title,
    inject_description: r.description ?? row.inject_description,
    inject_injector_contract: other?.injector_contract_id ?? row.inject_injector_contract?.injector_contract_id,
    // An injector of the contract before does not carry out another.
    ...(other === undefined && row.inject_injector !== null && { inject_injector: row.inject_injector }),
    inject_content: other === undefined ? merged(row.inject_content, r.content) : contentOf(other, r.content),
    inject_depends_duration: r.delaySeconds ?? row.inject_depends_duration,
    inject_depends_on: row.inject_depends_on ?? [],
    inject_all_teams: r.allTeams ?? row.inject_all_teams,
    inject_country: row.inject_country,
    inject_city: row.inject_city,
    inject_enabled: row.inject_enabled,
    inject_assets: changed(targets.endpointIds, r.clearEndpoints, row.inject_assets),
    inject_asset_groups: changed(targets.assetGroupIds, r.clearAssetGroups, row.inject_asset_groups),
    inject_teams: changed(targets.teamIds, r.clearTeams, row.inject_teams),
    inject_tags: changed(labels, r.clearLabels, row.inject_tags),
    inject_documents: (row.inject_documents ?? []).map(({ document_id, document_attached }) => ({
      document_id,
      document_attached,
    })),
  };
}

/** A content with some of its fields changed; null takes one away. */
function merged(before: JsonObject | null, changes: JsonObject | undefined): JsonObject | null {
  if (changes === undefined) return before;
  const content = { ...before, ...changes };
  return Object.fromEntries(Object.entries(content).filter(([, value]) => value !== null));
}

/**
 * The content of a new inject. What the contract predefines is expected of the
 * defence where nothing is said of it, as in the platform's own interface.
 */
export function contentOf(contract: UpstreamContractDetails, given: JsonObject | undefined): JsonObject {
  const content = given ?? {};
  const field = contract.convertedContent?.fields?.find(({ type }) => type === "expectation");
  const predefined = field?.predefinedExpectations ?? [];
  if (content.expectations !== undefined || predefined.length === 0) return content;
  return { ...content, expectations: predefined.map((one) => ({ ...one, expectation_score: 100 })) };
}
