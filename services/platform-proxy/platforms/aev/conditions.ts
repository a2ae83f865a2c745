import type { MessageInitShape } from "@bufbuild/protobuf";
import type { EndpointCondition, EndpointConditionSchema } from "#proto/aev/v1/asset_group_service_pb.js";
import { invalidArgument } from "../../../shared/rpc/errors.js";
import type { Platform } from "../../platform.js";
import { labelIds } from "./labels.js";
import { isTruthWord } from "./search.js";
import type { TenantScope } from "./tenant.js";
import type { UpstreamAssetGroup, UpstreamCondition } from "./upstream-content.js";

/** What endpoints are compared by, and what the platform calls it. */
const KEYS: Readonly<Record<string, string>> = {
  name: "asset_name",
  hostname: "endpoint_hostname",
  ip: "endpoint_ips",
  platform: "endpoint_platform",
  arch: "endpoint_arch",
  label: "asset_tags",
};
const FIELDS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(KEYS).map(([field, key]) => [key, field]),
);

type Filter = NonNullable<UpstreamAssetGroup["asset_group_dynamic_filter"]>;

/**
 * The platform's form of conditions. What it would fail over at every later
 * look at the group is refused.
 *
 * @throws ConnectError invalid_argument, or not_found for labels that there are not.
 */
export async function filterOf(
  platform: Platform,
  tenant: TenantScope,
  conditions: readonly EndpointCondition[],
  matchAny: boolean,
): Promise<Filter> {
  const filters: UpstreamCondition[] = [];
  for (const { field, operator, values } of conditions) {
    const isEmptiness = operator.endsWith("empty");
    if (isEmptiness === values.length > 0) {
      throw invalidArgument(
        `conditions: ${field} ${operator || "eq"} takes ${isEmptiness ? "no" : "at least one"} value`,
      );
    }
    if (isTruthWord(values) && /^(?:not_)?eq$|^$/.test(operator)) {
      throw invalidArgument(
        `conditions: OpenAEV cannot test whether ${field} equals true or false; use the operator contains`,
      );
    }
    filters.push({
      key: KEYS[field] as string,
      operator: operator || "eq",
      values: field === "label" ? await labelIds(platform, tenant, values) : values,
      // Otherwise a name would have to contain all of them.
      mode: "or",
    });
  }
  return { mode: matchAny ? "or" : "and", filters };
}

/**
 * The conditions of a group.
 *
 * @param names gives the names of labels by their ids.
 */
export function conditionsOf(
  { asset_group_dynamic_filter: filter }: UpstreamAssetGroup,
  names: (ids: readonly string[] | null | undefined) => string[],
): MessageInitShape<typeof EndpointConditionSchema>[] {
  return (filter?.filters ?? []).map(({ key, operator, values }) => ({
    field: FIELDS[key] ?? key,
    operator: operator ?? "eq",
    values: key === KEYS.label ? names(values) : [...(values ?? [])],
  }));
}

/** The ids of labels in the conditions of a group. */
export function labelsIn({ asset_group_dynamic_filter: filter }: UpstreamAssetGroup): string[] {
  return (filter?.filters ?? []).flatMap(({ key, values }) => (key === KEYS.label ? (values ?? []) : []));
}
