import { matching } from "../search.js";
import type { AssetGroup, Endpoint, Finding, Technique, User, World } from "../world.js";
import { rowsOf } from "../world.js";
import { ENDPOINT_FIELDS } from "./fields.js";
import { iso } from "./scenarios.js";

// Accounts, endpoints, techniques, findings and tags in the platform's JSON.

/** GET /me. */
export function userView(user: User, tenant: string): unknown {
  const planner = user.admin || [...user.grants.values()].includes("PLANNER");
  const observer = planner || user.grants.size > 0;
  return {
    listened: true,
    user_id: user.id,
    user_firstname: user.firstname,
    user_lastname: user.lastname,
    user_lang: "auto",
    user_theme: "default",
    user_email: user.email,
    user_phone: null,
    user_phone2: null,
    user_pgp_key: null,
    user_status: 0,
    user_created_at: iso(user.createdAt),
    user_updated_at: iso(user.createdAt),
    user_organization: null,
    user_admin: user.admin,
    user_country: null,
    user_city: null,
    user_groups: [],
    user_teams: [],
    user_tags: [],
    user_communications: [],
    team_exercises_users: [],
    user_is_external: user.admin,
    user_capabilities: [...(user.capabilities.get(tenant) ?? [])],
    user_is_admin_or_bypass: user.admin,
    user_grants: Object.fromEntries(user.grants),
    user_is_planner: planner,
    user_is_observer: observer,
    user_is_player: observer,
    user_gravatar: "https://www.gravatar.com/avatar/00000000000000000000000000000000?d=mm",
    user_is_manager: observer,
    user_is_only_player: !observer,
  };
}

/** An endpoint in a search. */
export function endpointRow({ id, name, platform, arch, tags, agent }: Endpoint): unknown {
  const executor = {
    executor_id: "2f9a0936-c327-4e95-b406-d161d32a2501",
    executor_name: "OpenAEV Agent",
    executor_type: "openaev_agent",
  };
  return {
    asset_id: id,
    asset_name: name,
    asset_type: "Endpoint",
    asset_agents:
      agent === undefined
        ? []
        : [
            {
              agent_id: agent.id,
              agent_privilege: "admin",
              agent_deployment_mode: "service",
              agent_executed_by_user: platform === "Windows" ? "NT AUTHORITY\\SYSTEM" : "root",
              agent_executor: executor,
              agent_active: agent.active,
              agent_last_seen: iso(agent.lastSeen),
              agent_version: "2.4.0",
            },
          ],
    endpoint_platform: platform,
    endpoint_arch: arch,
    asset_tags: tags,
  };
}

/** The endpoints that meet the conditions of a group; none where it has no condition. */
export function meeting(endpoints: readonly Endpoint[], { dynamicFilter }: AssetGroup): Endpoint[] {
  const group = (dynamicFilter ?? {}) as { readonly filters?: readonly Record<string, unknown>[] };
  return (group.filters ?? []).length === 0 ? [] : matching(endpoints, ENDPOINT_FIELDS, group);
}

/** An attack pattern, in a search and by id. */
export function techniqueRow(technique: Technique): unknown {
  return {
    listened: true,
    attack_pattern_id: technique.id,
    attack_pattern_stix_id: `attack-pattern--${technique.id}`,
    attack_pattern_name: technique.name,
    attack_pattern_description: technique.description,
    attack_pattern_external_id: technique.externalId,
    attack_pattern_platforms: technique.platforms,
    attack_pattern_permissions_required: [],
    attack_pattern_created_at: iso(technique.createdAt),
    attack_pattern_updated_at: iso(technique.createdAt),
    attack_pattern_parent: technique.parent ?? null,
    attack_pattern_kill_chain_phases: [technique.phase.id],
  };
}

/** @param distinct leaves out where each came from. */
export function findingRow(world: World, finding: Finding, distinct: boolean): unknown {
  const inject = world.injects.get(finding.inject);
  return {
    finding_id: finding.id,
    finding_type: finding.type,
    finding_value: finding.value,
    finding_created_at: iso(finding.createdAt),
    finding_assets: rowsOf(world.endpoints, finding.assets).map(({ id, name }) => ({ asset_id: id, asset_name: name })),
    ...(!distinct && {
      finding_asset_groups: rowsOf(world.assetGroups, inject?.assetGroups ?? []).map(({ id, name }) => ({
        asset_group_id: id,
        asset_group_name: name,
      })),
      finding_inject: { inject_id: finding.inject, inject_title: inject?.title ?? "" },
    }),
  };
}
