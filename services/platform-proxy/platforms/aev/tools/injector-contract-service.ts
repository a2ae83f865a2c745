import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import { EndpointPlatform } from "#proto/aev/v1/asset_service_pb.js";
import { type ContractFieldSchema, InjectorContractService } from "#proto/aev/v1/injector_contract_service_pb.js";
import { notFound } from "../../../../shared/rpc/errors.js";
import { unary } from "../../../binding.js";
import { wordOf } from "../../../lib/words.js";
import { contractName } from "../inject.js";
import { contractOf, type UpstreamContractField } from "../injector-contract.js";
import { ATTACK_PATTERN } from "../kinds.js";
import { havingOne, listPage, nameKey, type Order } from "../list.js";
import { memberOf } from "../member.js";
import { tenantOf } from "../tenant.js";

interface UpstreamContractRow {
  readonly injector_contract_id: string;
  readonly injector_contract_labels: Readonly<Record<string, string>> | null;
  readonly injector_contract_platforms: readonly string[] | null;
  readonly injector_contract_injector_type: string | null;
  readonly injector_contract_payload_type: string | null;
  readonly injector_contract_attack_patterns: readonly string[] | null;
}

const BY_NAME: Order<UpstreamContractRow> = {
  // The platform does not sort by label.
  sorts: [{ property: "injector_contract_updated_at", direction: "asc" }],
  keyOf: (row) => nameKey(contractName(row)),
  isOurs: true,
};
/** Rows hold the whole content of a contract. */
const PIECE = 200;
const MAX_CHOICES = 50;

/** How the tools of this service are answered. */
export const bindings = [
  unary(InjectorContractService.method.listInjectorContracts, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    if (r.attackPatternId !== undefined) await memberOf(platform, tenant, ATTACK_PATTERN, r.attackPatternId);
    const type = r.type?.trim();
    const page = await listPage<UpstreamContractRow>(
      platform,
      tenant,
      {
        route: "/injector_contracts/search",
        idKey: "injector_contract_id",
        query: r.query,
        textsOf: (row) => Object.values(row.injector_contract_labels ?? {}),
        having: [
          ...havingOne<UpstreamContractRow>(
            (row) => row.injector_contract_attack_patterns,
            r.attackPatternId === undefined ? [] : [r.attackPatternId],
          ),
          ...havingOne<UpstreamContractRow>(
            (row) => row.injector_contract_platforms,
            r.platforms.map((one) => wordOf(EndpointPlatform, one)),
          ),
          ...havingOne<UpstreamContractRow>(
            (row) => row.injector_contract_injector_type,
            type === undefined ? [] : [type],
          ),
        ],
        order: BY_NAME,
        more: { include_full_details: true },
        piece: PIECE,
      },
      r,
    );
    return {
      injectorContracts: page.rows.map((row) => ({
        id: row.injector_contract_id,
        name: contractName(row),
        type: row.injector_contract_injector_type ?? "",
        payloadType: row.injector_contract_payload_type ?? "",
        platforms: [...(row.injector_contract_platforms ?? [])],
        attackPatternCount: new Set(row.injector_contract_attack_patterns).size,
      })),
      ...page.paging,
    };
  }),

  unary(InjectorContractService.method.getInjectorContract, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const row = await contractOf(platform, tenant, r.injectorContractId);
    const fields = row.convertedContent?.fields;
    if (fields === undefined)
      throw notFound(
        `injector_contract_id: OpenAEV returns no fields for the injector contract ${r.injectorContractId}`,
      );
    const payload = row.injector_contract_payload;
    const arch = row.injector_contract_arch;
    return {
      id: row.injector_contract_id,
      name: contractName(row),
      type: row.injector_contract_injector_type ?? "",
      platforms: [...(row.injector_contract_platforms ?? [])],
      architecture: arch === null || arch === "ALL_ARCHITECTURES" ? "" : arch,
      attackPatterns: (row.injector_contract_attack_patterns ?? []).map((id) => ({ id })),
      isManual: row.injector_contract_manual,
      isAtomic: row.injector_contract_atomic_testing,
      fields: fields.map(toField),
      expectations: fields.flatMap(({ predefinedExpectations = [] }) => predefinedExpectations).map(toExpectation),
      ...(payload !== null && { payload: { id: payload.payload_id, name: payload.payload_name } }),
    };
  }),
];

function toField(field: UpstreamContractField): MessageInitShape<typeof ContractFieldSchema> {
  return {
    key: field.key,
    label: field.label,
    type: field.type,
    isRequired: field.mandatory === true,
    requiredOneOf: [...(field.mandatoryGroups ?? [])],
    defaultValue: textOf(field.defaultValue),
    choices: choicesOf(field.choices),
  };
}

function textOf(value: unknown): string {
  if (value === null || value === undefined || value === "") return "";
  if (Array.isArray(value)) return value.length === 0 ? "" : value.map(textOf).join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Choices are a list of objects with a value, or an object of labels by value. */
function choicesOf(choices: unknown): string[] {
  const list = Array.isArray(choices)
    ? choices.map((one: unknown) => textOf((one as { readonly value?: unknown } | null)?.value ?? one))
    : Object.keys(typeof choices === "object" && choices !== null ? choices : {});
  return list.slice(0, MAX_CHOICES);
}

function toExpectation(one: JsonObject) {
  return {
    type: String(one.expectation_type ?? ""),
    name: String(one.expectation_name ?? ""),
    score: Number(one.expectation_score ?? 0),
    expirationSeconds: Math.max(0, Math.trunc(Number(one.expectation_expiration_time ?? 0))),
  };
}
