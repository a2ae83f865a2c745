import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  PayloadArchitecture,
  type PayloadDetailsSchema,
  PayloadExpectation,
  PayloadStatus,
  PayloadType,
} from "#proto/aev/v1/payload_service_pb.js";
import { given } from "../../lib/fields.js";
import { timeOf } from "../../lib/time.js";
import { enumOf } from "../../lib/words.js";
import type { Platform } from "../../platform.js";
import { readContract } from "./injector-contract.js";
import { labelNames } from "./labels.js";
import { isAscii, searchOnce } from "./search.js";
import type { TenantScope } from "./tenant.js";

/** Something that a payload is run with. */
export interface UpstreamArgument {
  readonly key: string;
  readonly type: string;
  readonly default_value: string | null;
  readonly description: string | null;
}

/** What a search tells of a payload, and a read by id with more. */
export interface UpstreamPayload {
  readonly payload_id: string;
  readonly payload_name: string;
  readonly payload_type: string;
  readonly payload_description: string | null;
  readonly payload_platforms: readonly string[] | null;
  readonly payload_status: string;
  readonly payload_source: string;
  readonly payload_execution_arch: string | null;
  readonly payload_expectations: readonly string[] | null;
  readonly payload_arguments: readonly UpstreamArgument[] | null;
  readonly payload_prerequisites:
    | readonly {
        readonly executor: string;
        readonly get_command: string;
        readonly check_command?: string | null;
        readonly description?: string | null;
      }[]
    | null;
  readonly payload_cleanup_executor: string | null;
  readonly payload_cleanup_command: string | null;
  readonly payload_tags?: readonly string[] | null;
  readonly payload_domains?: readonly string[] | null;
  readonly payload_attack_patterns?: readonly string[] | null;
  readonly payload_detection_remediations?: readonly unknown[] | null;
  readonly payload_output_parsers?: readonly unknown[] | null;
  readonly command_executor?: string | null;
  readonly command_content?: string | null;
  readonly dns_resolution_hostname?: string | null;
  readonly executable_file?: string | { readonly document_id: string } | null;
  readonly file_drop_file?: string | { readonly document_id: string } | null;
  readonly payload_updated_at: string;
}

interface UpstreamContractName {
  readonly injector_contract_id: string;
  readonly injector_contract_labels: Readonly<Record<string, string>> | null;
}

/** Actions that are looked through for one of a name. */
const CANDIDATES = 100;
/** The platform's words for kinds of payloads. */
export const TYPES: Readonly<Record<PayloadType, string>> = {
  [PayloadType.UNSPECIFIED]: "",
  [PayloadType.COMMAND]: "Command",
  [PayloadType.EXECUTABLE]: "Executable",
  [PayloadType.FILE_DROP]: "FileDrop",
  [PayloadType.DNS_RESOLUTION]: "DnsResolution",
  [PayloadType.NETWORK_TRAFFIC]: "NetworkTraffic",
};
/** The kind of a payload. */
export const typeOf = (row: UpstreamPayload): PayloadType =>
  Number(Object.entries(TYPES).find(([, word]) => word === row.payload_type)?.[0] ?? PayloadType.UNSPECIFIED);

/** The id of a file, which is told in two forms; null where there is none. */
export const idOf = (file: UpstreamPayload["executable_file"]): string | null =>
  file == null ? null : typeof file === "string" ? file : file.document_id;

/** A payload in our words, with the action that runs it. */
export async function toPayloadDetails(
  platform: Platform,
  tenant: TenantScope,
  row: UpstreamPayload,
): Promise<MessageInitShape<typeof PayloadDetailsSchema>> {
  const names = await labelNames(platform, tenant, [row.payload_tags]);
  const refs = (ids: readonly string[] | null | undefined) => (ids ?? []).map((id) => ({ id }));
  const file = idOf(row.executable_file) ?? idOf(row.file_drop_file);
  const contract = await contractIdOf(platform, tenant, row);
  return {
    id: row.payload_id,
    name: row.payload_name,
    type: typeOf(row),
    description: row.payload_description ?? "",
    platforms: [...(row.payload_platforms ?? [])],
    architecture: enumOf(PayloadArchitecture, row.payload_execution_arch),
    status: enumOf(PayloadStatus, row.payload_status),
    source: row.payload_source.toLowerCase(),
    executor: row.command_executor ?? "",
    command: row.command_content ?? "",
    cleanupExecutor: row.payload_cleanup_executor ?? "",
    cleanupCommand: row.payload_cleanup_command ?? "",
    hostname: row.dns_resolution_hostname ?? "",
    arguments: (row.payload_arguments ?? []).map((one) => ({
      key: one.key,
      ...given({ type: one.type, defaultValue: one.default_value }),
    })),
    prerequisites: (row.payload_prerequisites ?? []).map((one) => ({
      executor: one.executor,
      checkCommand: one.check_command ?? "",
      getCommand: one.get_command,
    })),
    expectations: (row.payload_expectations ?? []).map((one) => enumOf(PayloadExpectation, one)),
    attackPatterns: refs(row.payload_attack_patterns),
    domains: refs(row.payload_domains),
    labels: names(row.payload_tags ?? []),
    ...(file !== null && { document: { id: file } }),
    ...(contract !== undefined && { injectorContract: { id: contract } }),
    ...given({ updatedAt: timeOf(row.payload_updated_at) }),
  };
}

/** How many actions of a payload's name are looked at for its own. */
const NAMESAKES = 10;

/**
 * What runs a payload: of the actions that bear its name, the one that was made
 * of it; undefined where there is none. A search of actions does not tell
 * payloads apart.
 */
async function contractIdOf(
  platform: Platform,
  tenant: TenantScope,
  row: UpstreamPayload,
): Promise<string | undefined> {
  const name = row.payload_name;
  const { rows } = await searchOnce<UpstreamContractName>(
    platform,
    tenant,
    {
      route: "/injector_contracts/search",
      idKey: "injector_contract_id",
      query: isAscii(name) ? name : undefined,
      sorts: [{ property: "injector_contract_updated_at", direction: "desc" }],
      more: { include_full_details: true },
    },
    0,
    CANDIDATES,
  );
  const namesakes = rows.filter(({ injector_contract_labels: labels }) => Object.values(labels ?? {}).includes(name));
  for (const { injector_contract_id: id } of namesakes.slice(0, NAMESAKES)) {
    const contract = await readContract(platform, tenant, id);
    if (contract?.injector_contract_payload?.payload_id === row.payload_id) return id;
  }
  return undefined;
}
