import { nextStatuses } from "../runs.js";
import type { Inject, Phase, Simulation, World } from "../world.js";
import { rowsOf } from "../world.js";
import { resultsOf } from "./results.js";
import { iso, statistics } from "./scenarios.js";

// Simulations and injects in the platform's JSON.

/** Teams, endpoints and asset groups that injects address. */
export function targetsOf(world: World, injects: readonly Inject[]): unknown[] {
  const named = (ids: readonly string[], rows: ReadonlyMap<string, { id: string; name: string }>, type: string) =>
    rowsOf(rows, [...new Set(ids)]).map(({ id, name }) => ({ target_id: id, target_name: name, target_type: type }));
  return [
    ...named(
      injects.flatMap((inject) => inject.teams),
      world.teams,
      "TEAMS",
    ),
    ...named(
      injects.flatMap((inject) => inject.assets),
      world.endpoints,
      "ASSETS",
    ),
    ...named(
      injects.flatMap((inject) => inject.assetGroups),
      world.assetGroups,
      "ASSETS_GROUPS",
    ),
  ];
}

/** What a simulation came to, by type of expectation. */
export function simulationResults(world: World, simulation: Simulation, now: number): unknown[] {
  return resultsOf(
    rowsOf(world.injects, simulation.injects).flatMap((inject) => inject.expectations),
    now,
  );
}

/** A simulation in a search. */
export function simulationRow(world: World, simulation: Simulation, now: number): unknown {
  return {
    exercise_id: simulation.id,
    exercise_name: simulation.name,
    exercise_status: simulation.status,
    exercise_category: simulation.category,
    // Left out where there is none, unlike in a read by id.
    ...(simulation.start !== null && { exercise_start_date: iso(simulation.start) }),
    exercise_updated_at: iso(simulation.updatedAt),
    exercise_tags: simulation.tags,
    exercise_global_score: simulationResults(world, simulation, now),
    exercise_targets: targetsOf(world, rowsOf(world.injects, simulation.injects)),
  };
}

function shared(simulation: Simulation): Record<string, unknown> {
  const { id, teamUsers } = simulation;
  return {
    exercise_id: id,
    exercise_name: simulation.name,
    exercise_description: simulation.description,
    exercise_status: simulation.status,
    exercise_subtitle: null,
    exercise_category: simulation.category,
    exercise_main_focus: simulation.mainFocus,
    exercise_severity: simulation.severity,
    exercise_start_date: iso(simulation.start),
    // Kept to the second, although a write answers with more.
    exercise_end_date: iso(simulation.end === null ? null : Math.floor(simulation.end / 1_000) * 1_000),
    exercise_message_header: null,
    exercise_message_footer: null,
    exercise_mail_from: "no-reply@sallyport.example",
    exercise_mail_from_name: "no-reply",
    exercise_mails_reply_to: simulation.replyTo,
    exercise_lessons_anonymized: false,
    exercise_scenario: simulation.scenario,
    exercise_created_at: iso(simulation.createdAt),
    exercise_updated_at: iso(simulation.updatedAt),
    exercise_custom_dashboard: null,
    exercise_teams_users: teamUsers.map(({ team, user }) => ({ exercise_id: id, team_id: team, user_id: user })),
    exercise_tags: simulation.tags,
    exercise_users: teamUsers.map(({ user }) => user),
    exercise_lessons_answers_number: 0,
    exercise_all_users_number: teamUsers.length,
    exercise_users_number: teamUsers.length,
    exercise_score: 0,
    exercise_logs_number: 0,
    exercise_communications_number: 0,
  };
}

/** A read by id. */
export function simulationDetails(world: World, simulation: Simulation): unknown {
  const contracts = rowsOf(world.injects, simulation.injects).map((inject) => inject.contract);
  const phases = new Map(contracts.flatMap(({ technique: t }) => (t === undefined ? [] : [[t.phase.id, t.phase]])));
  return {
    ...shared(simulation),
    exercise_observers: null,
    exercise_planners: null,
    exercise_workflow_id: null,
    exercise_platforms: [...new Set(contracts.flatMap(({ platforms }) => platforms))],
    exercise_kill_chain_phases: [...phases.values()].map((phase) => phaseView(phase, simulation.createdAt)),
  };
}

/** The answer to a write. */
export function simulationEntity(simulation: Simulation): unknown {
  return {
    listened: true,
    ...shared(simulation),
    exercise_end_date: iso(simulation.end),
    exercise_logo_dark: null,
    exercise_logo_light: null,
    // A launch answers before the injects are there.
    exercise_injects: [],
    exercise_teams: simulation.teams,
    exercise_pauses: [],
    exercise_documents: [],
    exercise_articles: [],
    exercise_lessons_categories: [],
    exercise_variables: [],
    exercise_platforms: [],
    exercise_kill_chain_phases: [],
    exercise_next_possible_status: nextStatuses(simulation.status),
    exercise_injects_statistics: statistics(0),
    exercise_planners: [],
    exercise_observers: [],
    exercise_next_inject_date: null,
  };
}

/** A kill-chain phase, in full. */
export function phaseView(phase: Phase, at: number): unknown {
  return {
    listened: true,
    phase_id: phase.id,
    phase_external_id: phase.externalId,
    phase_stix_id: null,
    phase_name: phase.name,
    phase_shortname: phase.shortname,
    phase_kill_chain_name: "mitre-attack",
    phase_description: null,
    phase_order: phase.order,
    phase_created_at: iso(at),
    phase_updated_at: iso(at),
  };
}
