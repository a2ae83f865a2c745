import type { Contract, Inject, World } from "../world.js";
import { resultsOf } from "./results.js";
import { iso } from "./scenarios.js";
import { targetsOf } from "./simulations.js";

// Injects in the platform's JSON. Each row carries the whole contract, twice,
// as the platform's rows do.

/** The names of a contract by language. */
export function labelsOf({ label, labelFr }: Contract): Record<string, string> {
  return { en: label, fr: labelFr };
}

/** What can be run by itself. */
const isAtomic = (type: Contract["type"]): boolean => type === "openaev_implant" || type === "openaev_email";

function predefinedOf(type: Contract["type"]): unknown[] {
  if (type !== "openaev_implant") return [];
  return ["PREVENTION", "DETECTION"].map((kind) => ({
    expectation_type: kind,
    expectation_name: kind === "PREVENTION" ? "Prevention" : "Detection",
    expectation_description: null,
    expectation_score: 100,
    expectation_expectation_group: false,
    expectation_expiration_time: 21_600,
  }));
}

/** What a contract takes, as the platform parses it. */
export function convertedOf(contract: Contract): Record<string, unknown> {
  const { type, label } = contract;
  const implant = type === "openaev_implant";
  const config = { type, label: { fr: label, en: label }, color_dark: "#000000", color_light: "#000000" };
  const field = (key: string, kind: string) => ({
    key,
    label: `${key.charAt(0).toUpperCase()}${key.slice(1)}`,
    mandatory: true,
    readOnly: false,
    mandatoryGroups: null,
    mandatoryConditionFields: null,
    mandatoryConditionValues: null,
    visibleConditionFields: null,
    visibleConditionValues: null,
    linkedFields: [],
    linkedValues: [],
    cardinality: "n",
    defaultValue: [],
    type: kind,
  });
  const variables = ["id", "email", "firstname", "lastname", "lang"].map((key) => ({
    key: `user.${key}`,
    label: `The user's ${key}, to be put into what is sent to that user`,
    type: "String",
    cardinality: "1",
    children: [],
  }));
  return {
    config,
    label: labelsOf(contract),
    manual: type === "openaev_manual",
    fields: [
      ...(implant ? [field("assets", "asset"), field("asset_groups", "asset-group")] : [field("teams", "team")]),
      ...(type === "openaev_email" ? [field("subject", "text"), field("body", "textarea")] : []),
      { ...field("expectations", "expectation"), mandatory: false, predefinedExpectations: predefinedOf(type) },
    ],
    variables: [
      {
        key: "user",
        label: "User that will receive the injection",
        type: "String",
        cardinality: "1",
        children: variables,
      },
    ],
    context: {},
    atomicTesting: isAtomic(type),
    contract_id: contract.id,
    contract_attack_patterns_external_ids: [],
    is_atomic_testing: isAtomic(type),
    needs_executor: implant,
    platforms: contract.platforms,
    domains: [],
  };
}

/** A contract as a read by id tells it, and as injects carry it. */
export function contractRead(contract: Contract, payload: unknown = null): unknown {
  const converted = convertedOf(contract);
  return {
    convertedContent: converted,
    listened: true,
    injector_contract_external_id: null,
    injector_contract_labels: labelsOf(contract),
    injector_contract_manual: contract.type === "openaev_manual",
    injector_contract_content: JSON.stringify(converted),
    injector_contract_custom: false,
    injector_contract_needs_executor: contract.type === "openaev_implant",
    injector_contract_platforms: contract.platforms,
    injector_contract_tags: [],
    injector_contract_payload: payload,
    injector_contract_created_at: iso(contract.createdAt),
    injector_contract_updated_at: iso(contract.createdAt),
    injector_contract_attack_patterns: contract.technique === undefined ? [] : [contract.technique.id],
    injector_contract_domains: [],
    injector_contract_vulnerabilities: [],
    injector_contract_atomic_testing: isAtomic(contract.type),
    injector_contract_import_available: false,
    injector_contract_id: contract.id,
    injector_contract_arch: null,
    injector_contract_injector_type: contract.type,
    injector_contract_payload_status: null,
    injector_contract_injectors: [contract.injector],
    injector_contract_injector_names: { [contract.injector]: contract.type },
  };
}

/** A row of an inject search of a scenario. */
export function scenarioInjectRow(inject: Inject): unknown {
  const { contract, tags, teams, assets, assetGroups } = inject;
  return {
    listened: false,
    inject_id: inject.id,
    inject_title: inject.title,
    inject_enabled: inject.enabled,
    inject_exercise: inject.simulation,
    inject_scenario: inject.scenario,
    inject_depends_duration: inject.delaySeconds,
    inject_depends_on: null,
    inject_injector_contract: contractRead(contract),
    inject_tags: tags,
    inject_type: contract.type,
    inject_teams: repeated(teams, tags, assets, assetGroups),
    inject_assets: repeated(assets, tags, teams, assetGroups),
    inject_asset_groups: repeated(assetGroups, tags, teams, assets),
    inject_content: inject.details === undefined ? contentOf(contract) : inject.details.content,
    inject_documents: [],
    inject_communications: [],
    inject_expectations: [],
    header: null,
    footer: null,
    inject_users_number: null,
    inject_date: null,
    inject_communications_number: null,
    inject_communications_not_ack_number: null,
    inject_sent_at: null,
    inject_kill_chain_phases: null,
    inject_attack_patterns: null,
    inject_healthchecks: [],
    inject_contract_domains: [],
    inject_ready: teams.length + assets.length + assetGroups.length > 0,
    inject_testable: false,
  };
}

/** What injects of a contract have in them where nothing was said. */
export function contentOf({ type, label }: Contract): Record<string, unknown> {
  if (type === "openaev_manual") return { content: label };
  if (type === "openaev_email") return { subject: label, body: `<p>${label}</p>`, expectations: [] };
  return {};
}

/** As of a join that is not made distinct: each id once for every row of the other lists. */
function repeated(ids: readonly string[], ...others: readonly (readonly string[])[]): string[] {
  const times = others.reduce((product, list) => product * Math.max(1, list.length), 1);
  return ids.flatMap((id) => Array<string>(times).fill(id));
}

/** A row of an inject search of a simulation. */
export function simulationInjectRow(world: World, inject: Inject, now: number): unknown {
  const { contract, status } = inject;
  const converted = convertedOf(contract);
  return {
    inject_id: inject.id,
    inject_title: inject.title,
    inject_updated_at: iso(inject.updatedAt),
    inject_type: contract.type,
    inject_injector_contract: {
      injector_contract_id: contract.id,
      injector_contract_content: JSON.stringify(converted),
      convertedContent: converted,
      injector_contract_domains: [],
      injector_contract_platforms: contract.platforms,
      injector_contract_payload: null,
      injector_contract_labels: labelsOf(contract),
    },
    inject_status: {
      status_id: status?.id ?? null,
      status_name: status?.name ?? "DRAFT",
      tracking_sent_date: iso(status?.sentAt ?? null),
      tracking_end_date: iso(status?.endAt ?? null),
    },
    inject_expectation_results: resultsOf(inject.expectations, now),
    inject_targets: targetsOf(world, [inject]),
    inject_contract_domains: [],
  };
}
