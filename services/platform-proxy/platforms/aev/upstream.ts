import type { UpstreamResult, UpstreamTarget } from "./results.js";

// What the platform sends of scenarios and simulations, as far as it is used.
// Searches send fewer fields than reads by id, and writes others again.

/** A scenario. */
export interface UpstreamScenario {
  readonly scenario_id: string;
  readonly scenario_name: string;
  readonly scenario_description: string | null;
  readonly scenario_category: string | null;
  readonly scenario_severity: string | null;
  readonly scenario_recurrence: string | null;
  /** Null where there are none. */
  readonly scenario_tags: readonly string[] | null;
  readonly scenario_platforms: readonly string[];
  readonly scenario_updated_at: string;
  readonly scenario_created_at?: string;
  readonly scenario_main_focus?: string | null;
  readonly scenario_exercises?: readonly string[] | null;
  readonly scenario_users_number?: number;
  readonly scenario_recurrence_start?: string | null;
  readonly scenario_recurrence_end?: string | null;
  /** Who takes part, by team. */
  readonly scenario_teams_users?: readonly { readonly team_id: string; readonly user_id: string }[] | null;
}

/** What only writes answer with: every field that a PUT replaces. */
export interface UpstreamScenarioEntity extends UpstreamScenario {
  readonly scenario_subtitle: string | null;
  readonly scenario_external_reference: string | null;
  readonly scenario_external_url: string | null;
  readonly scenario_message_header: string | null;
  readonly scenario_message_footer: string | null;
  readonly scenario_mail_from_name: string | null;
  readonly scenario_mails_reply_to: readonly string[];
  readonly scenario_custom_dashboard: string | null;
}

/** A simulation, which is an exercise on the platform. */
export interface UpstreamSimulation {
  readonly exercise_id: string;
  readonly exercise_name: string;
  readonly exercise_description?: string | null;
  readonly exercise_status: string;
  readonly exercise_category: string | null;
  readonly exercise_severity?: string | null;
  readonly exercise_start_date?: string | null;
  readonly exercise_end_date?: string | null;
  readonly exercise_scenario?: string | null;
  readonly exercise_tags: readonly string[] | null;
  readonly exercise_updated_at: string;
  readonly exercise_users_number?: number;
  readonly exercise_global_score?: readonly UpstreamResult[];
  readonly exercise_targets?: readonly UpstreamTarget[];
}

/** An inject of a simulation, less the contract's content that comes with it. */
export interface UpstreamInjectResult {
  readonly inject_id: string;
  readonly inject_title: string;
  readonly inject_type: string | null;
  readonly inject_injector_contract: UpstreamContract | null;
  readonly inject_status: { readonly status_name: string; readonly tracking_sent_date: string | null } | null;
  readonly inject_expectation_results: readonly UpstreamResult[];
  readonly inject_targets?: readonly UpstreamTarget[] | null;
}

/** An inject of a scenario, less the contract's content that comes with it. */
export interface UpstreamInject {
  readonly inject_id: string;
  readonly inject_title: string;
  readonly inject_type: string | null;
  readonly inject_injector_contract: UpstreamContract | null;
  readonly inject_enabled: boolean;
  readonly inject_ready: boolean | null;
  readonly inject_depends_duration: number;
  readonly inject_assets?: readonly string[] | null;
  readonly inject_asset_groups?: readonly string[] | null;
  readonly inject_teams?: readonly string[] | null;
  readonly inject_content?: Readonly<Record<string, unknown>> | null;
}

/** What an inject does: the contract of its injector. */
export interface UpstreamContract {
  readonly injector_contract_id: string;
  readonly injector_contract_labels: Readonly<Record<string, string>> | null;
  readonly injector_contract_platforms: readonly string[] | null;
}
