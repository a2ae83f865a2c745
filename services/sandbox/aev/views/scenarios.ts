import type { Scenario, World } from "../world.js";
import { rowsOf } from "../world.js";

// Scenarios in the platform's JSON: a row of a search, the answer to a read by
// id and the answer to a write differ in their fields.

/** An instant as the platform writes it. */
export function iso(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString().replace(/\.000Z$/, "Z");
}

function platformsOf(world: World, { injects }: Scenario): string[] {
  return [...new Set(rowsOf(world.injects, injects).flatMap((inject) => inject.contract.platforms))];
}

/** A scenario in a search. */
export function scenarioRow(world: World, scenario: Scenario): unknown {
  return {
    scenario_id: scenario.id,
    scenario_name: scenario.name,
    scenario_description: scenario.description,
    scenario_severity: scenario.severity,
    scenario_category: scenario.category,
    scenario_recurrence: scenario.recurrence,
    scenario_updated_at: iso(scenario.updatedAt),
    scenario_tags: scenario.tags,
    scenario_platforms: platformsOf(world, scenario),
    scenario_workflow_id: null,
  };
}

function shared(world: World, scenario: Scenario): Record<string, unknown> {
  return {
    scenario_id: scenario.id,
    scenario_name: scenario.name,
    scenario_description: scenario.description,
    scenario_subtitle: scenario.subtitle,
    scenario_category: scenario.category,
    scenario_main_focus: scenario.mainFocus,
    scenario_severity: scenario.severity,
    scenario_type_affinity: null,
    scenario_external_url: scenario.externalUrl,
    scenario_recurrence: scenario.recurrence,
    scenario_recurrence_start: iso(scenario.recurrenceStart ?? null),
    scenario_recurrence_end: iso(scenario.recurrenceEnd ?? null),
    scenario_message_header: scenario.header,
    scenario_message_footer: scenario.footer,
    scenario_mail_from: "no-reply@sallyport.example",
    scenario_mail_from_name: scenario.mailFromName,
    scenario_created_at: iso(scenario.createdAt),
    scenario_updated_at: iso(scenario.updatedAt),
    scenario_custom_dashboard: scenario.customDashboard,
    scenario_teams_users: scenario.teamUsers.map(({ team, user }) => ({
      scenario_id: scenario.id,
      team_id: team,
      user_id: user,
    })),
    scenario_tags: scenario.tags.length === 0 ? null : scenario.tags,
    scenario_exercises: scenario.simulations,
    scenario_dependencies: null,
    scenario_kill_chain_phases: [],
    scenario_platforms: platformsOf(world, scenario),
    scenario_users_number: scenario.teamUsers.length,
    scenario_all_users_number: scenario.teamUsers.length,
  };
}

/** A read by id: without the addresses of replies and the outside reference. */
export function scenarioOutput(world: World, scenario: Scenario): unknown {
  return { lessonsAnonymized: false, ...shared(world, scenario), scenario_workflow_id: null };
}

/** The answer to a write: everything. */
export function scenarioEntity(world: World, scenario: Scenario): unknown {
  return {
    listened: true,
    ...shared(world, scenario),
    scenario_external_reference: scenario.externalReference,
    scenario_mails_reply_to: scenario.replyTo,
    scenario_injects: scenario.injects,
    scenario_teams: scenario.teams,
    scenario_documents: [],
    scenario_articles: [],
    scenario_lessons_categories: [],
    scenario_lessons_anonymized: false,
    scenario_users: scenario.teamUsers.map(({ user }) => user),
    scenario_injects_statistics: statistics(scenario.injects.length),
    scenario_planners: [],
    scenario_observers: [],
    scenario_communications_number: 0,
  };
}

/** Counts of injects that have not run. */
export function statistics(count: number): unknown {
  return {
    total_remaining: count,
    total_progress: 0,
    total_count: count,
    total_executed: 0,
    total_future: count,
    total_past: 0,
  };
}
