import type { JsonObject } from "@bufbuild/protobuf";
import { notFound } from "../../../shared/rpc/errors.js";
import type { Platform } from "../../platform.js";
import { readById } from "./member.js";
import { searchOnce } from "./search.js";
import type { TenantScope } from "./tenant.js";

/** What an inject can do, as a read by id tells it. */
export interface UpstreamContractDetails {
  readonly injector_contract_id: string;
  readonly injector_contract_labels: Readonly<Record<string, string>> | null;
  readonly injector_contract_platforms: readonly string[] | null;
  readonly injector_contract_injector_type: string | null;
  readonly injector_contract_arch: string | null;
  readonly injector_contract_manual: boolean;
  readonly injector_contract_atomic_testing: boolean;
  readonly injector_contract_attack_patterns: readonly string[] | null;
  readonly injector_contract_payload: { readonly payload_id: string; readonly payload_name: string } | null;
  readonly convertedContent: { readonly fields?: readonly UpstreamContractField[] } | null;
}

/** A field of what an inject takes. */
export interface UpstreamContractField {
  readonly key: string;
  readonly label: string;
  readonly type: string;
  readonly mandatory: boolean;
  readonly mandatoryGroups: readonly string[] | null;
  readonly defaultValue?: unknown;
  readonly choices?: unknown;
  readonly predefinedExpectations?: readonly JsonObject[];
}

const CONTRACT = {
  noun: "injector contract",
  route: "/injector_contracts",
  idKey: "injector_contract_id",
  sortKey: "injector_contract_updated_at",
  filters: () => [],
};

/** Reads what an inject can do; undefined where there is none of that id. */
export function readContract(
  platform: Platform,
  tenant: TenantScope,
  id: string,
): Promise<UpstreamContractDetails | undefined> {
  return readById<UpstreamContractDetails>(platform, tenant, CONTRACT, id);
}

/**
 * Reads what an inject can do, and confirms that the tenant has it: its search
 * finds it by id.
 *
 * @throws ConnectError not_found, or permission_denied for that of a payload that the caller may not see.
 */
export async function contractOf(
  platform: Platform,
  tenant: TenantScope,
  id: string,
): Promise<UpstreamContractDetails> {
  const row = await readContract(platform, tenant, id);
  const { rows } = await searchOnce<object>(
    platform,
    tenant,
    {
      route: `${CONTRACT.route}/search`,
      idKey: CONTRACT.idKey,
      sorts: [{ property: CONTRACT.sortKey, direction: "desc" }],
      more: { injector_contract_ids_to_process: [id.toLowerCase()] },
    },
    0,
    1,
  );
  if (row === undefined || rows.length === 0) {
    throw notFound(
      `injector_contract_id: there is no injector contract ${id} in tenant ${tenant.name}; list_injector_contracts lists them`,
    );
  }
  return row;
}
