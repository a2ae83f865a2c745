import { endpointsOf } from "../runs.js";
import { type Contract, type Endpoint, type Inject, rowsOf, type World } from "../world.js";
import { contentOf, contractRead, scenarioInjectRow } from "./injects.js";
import { resultsOf } from "./results.js";
import { iso } from "./scenarios.js";

// One inject in the platform's JSON: read, written, run.

/** A read by id. */
export function injectRead(inject: Inject): unknown {
  const { contract, details, status } = inject;
  return {
    listened: true,
    inject_id: inject.id,
    inject_title: inject.title,
    inject_description: details?.description ?? null,
    inject_country: details?.country ?? null,
    inject_city: details?.city ?? null,
    inject_enabled: inject.enabled,
    inject_trigger_now_date: iso(inject.triggeredAt ?? null),
    inject_content: details === undefined ? contentOf(contract) : details.content,
    inject_created_at: iso(inject.createdAt),
    inject_updated_at: iso(inject.updatedAt),
    inject_all_teams: details?.allTeams ?? false,
    inject_exercise: inject.simulation,
    inject_scenario: inject.scenario,
    inject_depends_on: details?.dependsOn ?? [],
    inject_depends_duration: inject.delaySeconds,
    inject_injector_contract: contractRead(contract),
    inject_injector: contract.injector,
    inject_user: null,
    inject_status: status === null ? null : { status_id: status.id, status_name: status.name },
    inject_collect_status: "COLLECTING",
    inject_tags: inject.tags,
    inject_teams: inject.teams,
    inject_assets: inject.assets,
    inject_asset_groups: inject.assetGroups,
    inject_documents: details?.documents ?? [],
    inject_communications: [],
    inject_expectations: inject.expectations.map(({ id }) => id),
    inject_date: null,
    inject_attack_patterns: contract.technique === undefined ? [] : [contract.technique.id],
    inject_kill_chain_phases: [],
    inject_contract_domains: [],
    inject_testable: contract.type === "openaev_email",
    inject_sent_at: iso(status?.sentAt ?? null),
    inject_communications_number: 0,
    inject_users_number: 0,
    inject_communications_not_ack_number: 0,
    inject_type: contract.type,
  };
}

/** The answer to a write, with what keeps it from running. */
export function injectWritten(world: World, inject: Inject, now: number): unknown {
  return { ...(scenarioInjectRow(inject) as object), inject_healthchecks: checksOf(world, inject, now) };
}

function checksOf(world: World, inject: Inject, now: number): unknown[] {
  const { contract, teams, assets, assetGroups, details } = inject;
  const content = details === undefined ? contentOf(contract) : (details.content ?? {});
  const isEmpty = (key: string) => content[key] === undefined || content[key] === null || content[key] === "";
  const lacks =
    contract.type === "openaev_implant"
      ? assets.length + assetGroups.length === 0
        ? ["ASSETS"]
        : []
      : teams.length === 0 && details?.allTeams !== true
        ? ["TEAMS"]
        : [];
  const mail =
    contract.type === "openaev_email" ? ["subject", "body"].filter(isEmpty).map((key) => key.toUpperCase()) : [];
  const isUnreached =
    contract.type === "openaev_implant" && endpointsOf(world, inject).every(({ agent }) => agent?.active !== true);
  const check = (type: string, detail: string, status = "ERROR") => ({ type, detail, status, creation_date: iso(now) });
  return [
    // Answers to mails are not read here; that keeps none from going out.
    ...(contract.type === "openaev_email" ? [check("IMAP", "SERVICE_UNAVAILABLE", "WARNING")] : []),
    ...(isUnreached ? [check("AGENT_OR_EXECUTOR", "EMPTY")] : []),
    ...[...lacks, ...mail].map((type) => check(type, "MANDATORY_CONTENT")),
  ];
}

/** How the run went as a whole. */
export function statusView(world: World, inject: Inject): unknown {
  const { status } = inject;
  if (status === null) return { status_name: "DRAFT" };
  const isNone = status.name === "ERROR" && endpointsOf(world, inject).every(({ agent }) => agent?.active !== true);
  const why = trace("ERROR", status.endAt ?? status.sentAt, "No asset executed", "COMPLETE");
  return {
    status_id: status.id,
    status_name: status.name,
    status_main_traces: isNone ? [why] : [],
    tracking_sent_date: iso(status.sentAt),
    tracking_end_date: iso(status.endAt),
  };
}

function trace(status: string, at: number, message: string, action: string, endpoint?: Endpoint): object {
  return {
    execution_status: status,
    execution_time: iso(at),
    execution_message: message,
    execution_action: action,
    ...(endpoint?.agent !== undefined && { execution_agent: agentView(endpoint) }),
  };
}

/** The account that an agent runs as. */
export const accountOf = ({ platform }: Endpoint): string => (platform === "Windows" ? "NT AUTHORITY\\SYSTEM" : "root");

function agentView(endpoint: Endpoint): unknown {
  return {
    agent_id: endpoint.agent?.id,
    agent_privilege: "admin",
    agent_deployment_mode: "service",
    agent_executed_by_user: accountOf(endpoint),
    agent_executor: {
      executor_id: "2f9a0936-c327-4e95-b406-d161d32a2501",
      executor_name: "OpenAEV Agent",
      executor_type: "openaev_agent",
    },
    agent_active: endpoint.agent?.active,
    agent_last_seen: iso(endpoint.agent?.lastSeen ?? null),
    agent_version: "2.4.0",
  };
}

const EXECUTED_MS = 40_000;

/** What happened on one endpoint. */
export function endpointTraces(inject: Inject, endpoint: Endpoint): object[] {
  const { status, contract } = inject;
  if (status === null || contract.type !== "openaev_implant" || status.name === "QUEUING") return [];
  const { sentAt: at } = status;
  if (endpoint.agent === undefined) {
    const why = `Asset ${endpoint.name} has no agent, unable to launch the inject`;
    return [trace("ASSET_AGENTLESS", at, why, "COMPLETE")];
  }
  if (!endpoint.agent.active) {
    const why = `Agent ${accountOf(endpoint)} is inactive for the asset ${endpoint.name}`;
    return [trace("AGENT_INACTIVE", at, why, "COMPLETE", endpoint)];
  }
  const began = trace("INFO", at + 1_000, "Implant spawn by the agent", "START", endpoint);
  if (status.endAt === null) return [began];
  const said = JSON.stringify({ stdout: `done on ${endpoint.name}`, stderr: "", exit_code: 0 });
  return [
    began,
    trace("SUCCESS", at + EXECUTED_MS / 2, said, "EXECUTION", endpoint),
    trace("INFO", at + EXECUTED_MS, "execution done in 120 ms", "COMPLETE", endpoint),
  ];
}

/** A target in a search of an inject's targets. */
export interface TargetRow {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly subtype: string;
  readonly tags: readonly string[];
  /** Whose expectations are its own. */
  readonly of: string;
  readonly teams?: readonly string[];
}

/** The targets of a kind. */
export function targetRows(world: World, inject: Inject, type: string): TargetRow[] {
  const teams = rowsOf(world.teams, inject.teams);
  switch (type) {
    case "ASSETS":
      return endpointsOf(world, inject).map(({ id, name, tags, platform }) => ({
        ...{ id, name, type, tags, of: id },
        subtype: platform,
      }));
    case "AGENT":
      return endpointsOf(world, inject).flatMap((endpoint) =>
        endpoint.agent === undefined
          ? []
          : [
              {
                id: endpoint.agent.id,
                name: accountOf(endpoint),
                type,
                subtype: "openaev_agent",
                tags: [],
                of: endpoint.id,
              },
            ],
      );
    case "ASSETS_GROUPS":
      return rowsOf(world.assetGroups, inject.assetGroups).map(({ id, name, tags }) => ({
        ...{ id, name, type, tags, of: id },
        subtype: "N/A",
      }));
    case "TEAMS":
      return teams.map(({ id, name, tags }) => ({ id, name, type, tags, of: id, subtype: "N/A" }));
    default:
      return [...new Set(teams.flatMap(({ users }) => users))].map((id) => ({
        ...{ id, type, tags: [], of: id },
        name: `player ${id.slice(0, 8)}`,
        subtype: "PLAYERS",
        teams: teams.filter(({ users }) => users.includes(id)).map((team) => team.id),
      }));
  }
}

/** A target in the platform's JSON, with how it turned out there. */
export function targetView(inject: Inject, row: TargetRow, now: number): unknown {
  const own = inject.expectations.filter(({ target, agent }) => target === row.of && agent === undefined);
  const results = resultsOf(own, now) as { readonly type: string; readonly avgResult: string }[];
  return {
    target_id: row.id,
    target_tags: row.tags,
    target_type: row.type,
    ...Object.fromEntries(results.map(({ type, avgResult }) => [`target_${type.toLowerCase()}_status`, avgResult])),
    target_execution_status: "UNKNOWN",
    target_name: row.name,
    ...(row.teams !== undefined && { target_teams: row.teams }),
    target_subtype: row.subtype,
  };
}

/** A row of a search of contracts; only the whole one tells what it is. */
export function contractRow(contract: Contract, isFull: boolean, payloadType: string | null): unknown {
  const { technique } = contract;
  const whole = contractRead(contract) as Record<string, unknown>;
  return {
    injector_contract_id: contract.id,
    injector_contract_external_id: null,
    injector_contract_updated_at: iso(contract.createdAt),
    injector_contract_has_full_details: isFull,
    ...(isFull && {
      injector_contract_labels: whole.injector_contract_labels,
      injector_contract_content: whole.injector_contract_content,
      injector_contract_platforms: contract.platforms,
      injector_contract_payload_type: payloadType,
      injector_contract_injector_type: contract.type,
      injector_contract_injector_names: { [contract.injector]: contract.type },
      injector_contract_attack_patterns: technique === undefined ? [] : [technique.id],
      injector_contract_tags: [],
      injector_contract_domains: [],
      injector_contract_arch: null,
      injector_contract_injectors: [contract.injector],
    }),
  };
}
