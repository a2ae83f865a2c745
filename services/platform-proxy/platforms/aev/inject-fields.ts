import type { JsonObject } from "@bufbuild/protobuf";
import type { UpdateInjectRequest } from "#proto/aev/v1/inject_service_pb.js";
import { invalidArgument } from "../../../shared/rpc/errors.js";
import { shorten } from "../../../shared/tools/shorten.js";
import type { Platform } from "../../platform.js";
import type { UpstreamInjectRead } from "./inject.js";
import { contractOf, readContract, type UpstreamContractDetails } from "./injector-contract.js";
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
    inject_content: other === undefined ? await merged(platform, tenant, row, r.content) : contentOf(other, r.content),
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

/**
 * A content with some of its fields changed; null takes one away.
 *
 * @throws ConnectError invalid_argument for a field that neither the content nor the action has.
 */
async function merged(
  platform: Platform,
  tenant: TenantScope,
  { inject_content: before, inject_injector_contract: action }: UpstreamInjectRead,
  changes: JsonObject | undefined,
): Promise<JsonObject | null> {
  if (changes === undefined) return before;
  const isNew = Object.keys(changes).some((key) => !Object.hasOwn(before ?? {}, key) && changes[key] !== null);
  if (isNew && action != null) {
    const contract = await readContract(platform, tenant, action.injector_contract_id);
    if (contract !== undefined) needFields(contract, changes, Object.keys(before ?? {}));
  }
  const content = { ...before, ...changes };
  return Object.fromEntries(Object.entries(content).filter(([, value]) => value !== null));
}

/** The platform reads these of a content, whether the action has them as fields or not. */
const READ_ANYWAY = ["expectations", "inReplyTo"];
/** Fields that an error names. */
const MOST_NAMED = 30;

/**
 * The platform stores any field and reads only those of the action: a misspelt one would be lost without a word.
 *
 * @param more fields that may be named too.
 * @throws ConnectError invalid_argument that names the action's fields.
 */
function needFields(contract: UpstreamContractDetails, content: JsonObject, more: readonly string[] = []): void {
  const fields = contract.convertedContent?.fields;
  // What an action reads is not always told.
  if (fields === undefined) return;
  const known = fields.map(({ key }) => key);
  const taken = new Set([...known, ...READ_ANYWAY, ...more]);
  const unknown = Object.keys(content).filter((key) => !taken.has(key));
  if (unknown.length === 0) return;
  const named = (keys: readonly string[]) =>
    keys
      .slice(0, MOST_NAMED)
      .map((key) => shorten(key, 60))
      .join(", ");
  throw invalidArgument(`content: this action has no field ${named(unknown)}; its fields are ${named(known)}`);
}

/**
 * The content of a new inject. What the contract predefines is expected of the
 * defence where nothing is said of it, as in the platform's own interface.
 *
 * @throws ConnectError invalid_argument for a field that the contract has not.
 */
export function contentOf(contract: UpstreamContractDetails, given: JsonObject | undefined): JsonObject {
  const content = given ?? {};
  needFields(contract, content);
  const field = contract.convertedContent?.fields?.find(({ type }) => type === "expectation");
  const predefined = field?.predefinedExpectations ?? [];
  if (content.expectations !== undefined || predefined.length === 0) return content;
  return { ...content, expectations: predefined.map((one) => ({ ...one, expectation_score: 100 })) };
}
