import type { Fields, SearchRules } from "../search.js";
import type { Endpoint, Finding, Inject, Scenario, Simulation, Technique, World } from "../world.js";
import { rowsOf } from "../world.js";

// What each kind can be filtered, sorted and searched by.

/** What scenarios are searched by. */
export function scenarioFields(world: World): Fields<Scenario> {
  return {
    scenario_name: { of: (row) => row.name, filter: true, sort: true, text: true },
    scenario_category: { of: (row) => row.category, filter: true, sort: true },
    scenario_severity: { of: (row) => row.severity, filter: true, sort: true },
    scenario_tags: { of: (row) => row.tags, filter: true },
    scenario_platforms: {
      of: (row) => rowsOf(world.injects, row.injects).flatMap((inject) => inject.contract.platforms),
      filter: true,
    },
    scenario_kill_chain_phases: {
      of: (row) => rowsOf(world.injects, row.injects).flatMap(({ contract: { technique: t } }) => t?.phase.id ?? []),
      filter: true,
    },
    scenario_recurrence: { of: (row) => row.recurrence, filter: true },
    scenario_dependencies: { of: () => null, filter: true, sort: true },
    scenario_updated_at: { of: (row) => row.updatedAt, filter: true, sort: true, instant: true },
  };
}

/** How scenarios and simulations are searched. */
export const PLAN_RULES: SearchRules = { joined: "values", placesNulls: true };

/** What simulations are searched by. */
export function simulationFields(world: World): Fields<Simulation> {
  return {
    exercise_name: { of: (row) => row.name, filter: true, sort: true, text: true },
    exercise_status: { of: (row) => row.status, filter: true, sort: true },
    exercise_scenario: { of: (row) => row.scenario, filter: true },
    exercise_tags: { of: (row) => row.tags, filter: true },
    exercise_kill_chain_phases: {
      of: (row) => rowsOf(world.injects, row.injects).flatMap(({ contract: { technique: t } }) => t?.phase.id ?? []),
      filter: true,
    },
    exercise_start_date: { of: (row) => row.start, filter: true, sort: true, instant: true },
    exercise_end_date: { of: (row) => row.end, filter: true, sort: true, instant: true },
    exercise_updated_at: { of: (row) => row.updatedAt, filter: true, sort: true, instant: true },
  };
}

/** What injects are searched by. */
export const INJECT_FIELDS: Fields<Inject> = {
  inject_title: { of: (row) => row.title, filter: true, sort: true, text: true },
  inject_type: { of: (row) => row.contract.type, filter: true },
  inject_status: { of: (row) => row.status?.name ?? null, filter: true, sort: true },
  inject_teams: { of: (row) => row.teams, filter: true },
  inject_assets: { of: (row) => row.assets, filter: true },
  inject_asset_groups: { of: (row) => row.assetGroups, filter: true },
  inject_tags: { of: (row) => row.tags, filter: true },
  inject_platforms: { of: (row) => row.contract.platforms, filter: true },
  inject_depends_duration: { of: (row) => row.delaySeconds, sort: true },
  inject_updated_at: { of: (row) => row.updatedAt, filter: true, sort: true, instant: true },
};

/** What endpoints are searched by. */
export const ENDPOINT_FIELDS: Fields<Endpoint> = {
  asset_id: { of: (row) => row.id, filter: true },
  asset_name: { of: (row) => row.name, filter: true, sort: true, text: true },
  asset_external_reference: {
    of: ({ agent, hostname }) => (agent === undefined ? null : `agent of ${hostname}`),
    filter: true,
    sort: true,
    text: true,
  },
  asset_tags: { of: (row) => row.tags, filter: true },
  endpoint_hostname: { of: (row) => row.hostname, filter: true, sort: true },
  endpoint_ips: { of: (row) => row.ips, filter: true },
  endpoint_platform: { of: (row) => row.platform, filter: true, sort: true },
  endpoint_arch: { of: (row) => row.arch, filter: true, sort: true },
};

/** What attack patterns are searched by. */
export const TECHNIQUE_FIELDS: Fields<Technique> = {
  attack_pattern_name: { of: (row) => row.name, sort: true, text: true },
  attack_pattern_external_id: { of: (row) => row.externalId, sort: true, text: true },
  attack_pattern_description: { of: (row) => row.description, text: true },
};

/** What findings are searched by. */
export function findingFields(world: World): Fields<Finding> {
  const simulationOf = (row: Finding) => world.injects.get(row.inject)?.simulation ?? null;
  return {
    // Kept and found by the name in its program, and shown as a word.
    finding_type: {
      of: (row) => (row.type === "portscan" ? "PortsScan" : row.type.replaceAll("_", "")),
      filter: true,
      sort: true,
    },
    finding_value: { of: (row) => row.value, filter: true, sort: true, text: true },
    finding_field: { of: (row) => row.field, filter: true, sort: true, text: true },
    finding_inject_id: { of: (row) => row.inject, filter: true, sort: true },
    finding_simulation: { of: simulationOf, filter: true },
    finding_scenario: {
      of: (row) => world.simulations.get(simulationOf(row) ?? "")?.scenario ?? null,
      filter: true,
    },
    finding_assets: { of: (row) => row.assets, filter: true },
    finding_asset_groups: { of: (row) => world.injects.get(row.inject)?.assetGroups ?? [], filter: true },
    finding_created_at: { of: (row) => row.createdAt, filter: true, sort: true, instant: true },
    finding_updated_at: { of: (row) => row.createdAt, filter: true, sort: true, instant: true },
  };
}
