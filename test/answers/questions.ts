import type { Tool } from "../../services/shared/tools/tools.js";

/** Arguments of a tool, as a client sends them. */
export type Args = Readonly<Record<string, unknown>>;

/** How a tool that gives a list is asked. */
export interface Question {
  readonly server: "cti" | "aev" | "grc" | "core";
  readonly tool: string;
  /** Arguments of a first page. */
  readonly args?: Args;
  /** Where such an argument is of an object: the list whose first row gives it, and the argument. */
  readonly of?: {
    readonly tool: string;
    readonly member?: string;
    readonly argument: string;
    /** The argument that the second row gives. */
    readonly second?: string;
    /** Another argument that the first row gives. */
    readonly same?: string;
  };
  /** What the tool asked the real platform, and what that answered; none on core. */
  readonly recorded?: readonly { readonly args?: Args; readonly answers: readonly Recorded[] }[];
}

/**
 * An exchange of recordings/SERVER-answers.jsonl by its name, on grc by its
 * number; or one given at another path, or with members that were not asked for
 * when it was recorded.
 */
export type Recorded =
  | string
  | number
  | { readonly of: string | number; readonly path?: string; readonly more?: object };

const DRILL = "7afcd113-a838-4ade-a5c5-9882ee2deba6";
const RUN = "70ea73cc-948e-4c90-9aca-2ef02992d95a";
const CSF = "245b004f-bc82-40d1-9967-2f9fcbde3ffc";
const AUDIT = "49321384-c6ea-4e57-afcc-356d549ae632";
const ALPHA = { id: "e0efa041-6f85-4711-873c-7efa94ddc1d0", str: "Alpha Corp" };
const STUDY = { id: "c29e31f5-335d-4256-a456-204c79235130", folder: ALPHA };
/** None that covers a part of its framework. */
const NO_AUDITS = { of: 133, path: "/api/compliance-assessments/", more: { count: 0, results: [] } };
const RISK_ASSESSMENT = { id: "d24ee464-5955-4844-91ac-56271f069af0", folder: ALPHA };
const RISK_ASSESSMENTS = {
  of: 230,
  path: "/api/risk-assessments/",
  more: { count: 1, results: [RISK_ASSESSMENT] },
};
const STUDIES = { of: 257, path: "/api/ebios-rm/studies/", more: { count: 1, results: [STUDY] } };
const CONTAINER = { of: "report object", more: { parent_types: ["Stix-Domain-Object", "Container"] } };
const RESULTS = { of: "results", path: `/api/exercises/${RUN}/results` };

const FINDINGS = ["4cd50373-3f39-4554-a755-f58997a9ce3f", "40806b2c-131f-452a-972c-20ac2b4b1b01"];
/** One of the recorded findings read by itself: it has no endpoint. */
const finding = (id: string) => ({
  of: "scenario",
  path: `/api/findings/${id}`,
  more: { finding_id: id, finding_assets: [] },
});

const ACTOR = { tool: "list_threat_actors", argument: "object_id" };
const MALWARE = { types: ["Malware"] };
const PATTERNS = { types: ["Attack-Pattern"] };
const SET = { object_id: "set" };

/** Whether a tool gives a list, so that its rows are measured. */
export const isList = ({ name, method }: Tool): boolean =>
  method.input.field.pageSize !== undefined || /^(list|search|find|lookup)_/.test(name);

/** Every tool that gives a list. */
export const QUESTIONS: readonly Question[] = [
  {
    server: "cti",
    tool: "list_entity_types",
    args: { family: "entity" },
    recorded: [{ args: { family: "entity" }, answers: ["entity types"] }],
  },
  {
    server: "cti",
    tool: "search_all",
    args: { query: "a" },
    recorded: [{ args: { query: "intrusion" }, answers: ["search as analyst"] }],
  },
  {
    server: "cti",
    tool: "search_entities",
    args: MALWARE,
    recorded: [
      { args: PATTERNS, answers: ["entity types", "entities"] },
      { args: PATTERNS, answers: ["entity types", "actors and containers"] },
    ],
  },
  {
    server: "cti",
    tool: "list_threat_actors",
    recorded: [{ answers: ["actors and containers"] }, { answers: ["entities"] }],
  },
  ...[
    "list_intrusion_sets",
    "list_campaigns",
    "list_malware",
    "list_tools",
    "list_attack_patterns",
    "list_incidents",
    "list_identities",
    "list_locations",
    "list_infrastructures",
    "list_courses_of_action",
  ].map((tool): Question => ({ server: "cti", tool, recorded: [{ answers: ["entities"] }] })),
  { server: "cti", tool: "list_observables", recorded: [{ answers: ["observables"] }] },
  { server: "cti", tool: "list_indicators", recorded: [{ answers: ["indicators"] }] },
  {
    server: "cti",
    tool: "lookup_ioc",
    of: { tool: "list_observables", member: "value", argument: "value" },
    recorded: [{ args: { value: "c2-0.evil.example" }, answers: ["lookup", "indicators"] }],
  },
  {
    server: "cti",
    tool: "find_entity_by_name",
    of: { tool: "list_threat_actors", member: "name", argument: "name" },
    recorded: [{ args: { name: "Intrusion Set 7" }, answers: ["entities"] }],
  },
  { server: "cti", tool: "list_reports", recorded: [{ answers: ["reports"] }] },
  {
    server: "cti",
    tool: "list_container_objects",
    of: { tool: "list_reports", argument: "container_id" },
    recorded: [{ args: { container_id: "report" }, answers: [CONTAINER, "contents"] }],
  },
  {
    server: "cti",
    tool: "list_entity_relationships",
    of: ACTOR,
    recorded: [{ args: SET, answers: ["set", "relationships"] }],
  },
  {
    server: "cti",
    tool: "get_top_related_entities",
    of: ACTOR,
    recorded: [{ args: SET, answers: ["set", "top malware", { of: "entities", path: "stixCoreObjects" }] }],
  },
  { server: "cti", tool: "list_containers" },
  { server: "cti", tool: "list_groupings" },
  { server: "cti", tool: "list_cases" },
  { server: "cti", tool: "list_tasks" },
  { server: "cti", tool: "list_entity_containers", of: { tool: "list_reports", argument: "object_id" } },
  { server: "cti", tool: "list_entity_notes", of: { tool: "list_reports", argument: "object_id" } },
  { server: "cti", tool: "list_entity_external_references", of: { tool: "list_threat_actors", argument: "object_id" } },
  { server: "cti", tool: "list_labels", recorded: [{ answers: ["labels"] }] },
  { server: "cti", tool: "list_markings" },
  { server: "cti", tool: "list_vocabulary_values", args: { vocabulary: "report_types_ov" } },
  { server: "cti", tool: "list_kill_chain_phases" },
  { server: "cti", tool: "list_vulnerabilities" },
  {
    server: "cti",
    tool: "lookup_vulnerability",
    of: { tool: "list_vulnerabilities", member: "name", argument: "name" },
  },
  { server: "cti", tool: "list_relationships", recorded: [{ answers: ["relationships"] }] },
  {
    server: "cti",
    tool: "list_entity_indicators",
    of: { tool: "list_malware", argument: "object_id" },
  },
  { server: "cti", tool: "list_sightings" },
  { server: "cti", tool: "list_entity_ttps", of: ACTOR },
  { server: "cti", tool: "list_recent_changes" },
  { server: "cti", tool: "list_relationship_types", args: { from_type: "Intrusion-Set" } },
  { server: "cti", tool: "list_filter_keys", args: { type: "Malware" } },
  { server: "cti", tool: "list_entity_changes", of: ACTOR, recorded: [{ args: SET, answers: ["set", "history"] }] },

  { server: "aev", tool: "list_scenarios", recorded: [{ answers: ["scenarios"] }] },
  { server: "aev", tool: "list_simulations", recorded: [{ answers: ["simulations"] }] },
  {
    server: "aev",
    tool: "list_injects",
    of: { tool: "list_simulations", argument: "simulation_id" },
    recorded: [
      { args: { scenario_id: DRILL }, answers: ["scenario", "scenarioByName", "injectsOfScenario"] },
      { args: { simulation_id: RUN }, answers: ["simulation", "simulationByName", "injectsOfSimulation"] },
    ],
  },
  {
    server: "aev",
    tool: "get_simulation_results",
    of: { tool: "list_simulations", argument: "simulation_id" },
    recorded: [{ args: { simulation_id: RUN }, answers: ["simulation", "simulationByName", RESULTS] }],
  },
  {
    server: "aev",
    tool: "list_inject_targets",
    args: { target_kind: "endpoint" },
    of: { tool: "list_atomic_tests", argument: "inject_id" },
  },
  { server: "aev", tool: "list_atomic_tests" },
  { server: "aev", tool: "list_payloads" },
  { server: "aev", tool: "list_variables", of: { tool: "list_scenarios", argument: "scenario_id" } },
  { server: "aev", tool: "list_injector_contracts" },
  { server: "aev", tool: "list_expectations", of: { tool: "list_simulations", argument: "simulation_id" } },
  { server: "aev", tool: "list_endpoints", recorded: [{ answers: ["endpoints"] }] },
  { server: "aev", tool: "list_findings", recorded: [{ answers: ["findings", ...FINDINGS.map(finding)] }] },
  { server: "aev", tool: "list_attack_patterns", recorded: [{ answers: ["attackPatterns"] }] },
  { server: "aev", tool: "list_asset_groups" },
  { server: "aev", tool: "get_asset_group", of: { tool: "list_asset_groups", argument: "asset_group_id" } },
  {
    server: "aev",
    tool: "inspect_simulation_comparison",
    of: { tool: "list_simulations", argument: "simulation_id", second: "other_simulation_id" },
  },
  { server: "aev", tool: "inspect_coverage", args: { kind: "endpoint", tested_after: "2026-01-01T00:00:00Z" } },
  { server: "aev", tool: "list_teams" },
  { server: "aev", tool: "list_players" },
  { server: "aev", tool: "list_mitigations" },
  { server: "aev", tool: "list_kill_chain_phases" },
  { server: "aev", tool: "list_labels" },
  { server: "aev", tool: "list_domains" },
  { server: "aev", tool: "list_vulnerabilities" },
  { server: "aev", tool: "list_documents" },
  { server: "aev", tool: "list_channels" },
  { server: "aev", tool: "list_articles", of: { tool: "list_scenarios", argument: "scenario_id" } },
  { server: "aev", tool: "list_challenges" },
  { server: "aev", tool: "list_lessons_templates" },
  { server: "aev", tool: "list_lessons", of: { tool: "list_scenarios", argument: "scenario_id" } },
  { server: "aev", tool: "list_lessons_answers", of: { tool: "list_simulations", argument: "simulation_id" } },
  { server: "aev", tool: "list_simulation_reports", of: { tool: "list_simulations", argument: "simulation_id" } },

  { server: "grc", tool: "list_tenants", recorded: [{ answers: [] }] },
  {
    server: "grc",
    tool: "search_all",
    args: { query: "backup" },
    recorded: [{ args: { query: "mfa" }, answers: [32, 59, 188] }],
  },
  { server: "grc", tool: "list_frameworks", recorded: [{ answers: [37] }] },
  {
    server: "grc",
    tool: "get_framework_tree",
    of: { tool: "list_frameworks", argument: "framework_id" },
    recorded: [{ args: { framework_id: CSF }, answers: [42, 46] }],
  },
  { server: "grc", tool: "list_controls", recorded: [{ answers: [59] }] },
  {
    server: "grc",
    tool: "list_requirement_assessments",
    recorded: [{ args: { assessment_id: AUDIT }, answers: [133, 145] }, { answers: [NO_AUDITS, 164] }],
  },
  {
    server: "grc",
    tool: "list_assessment_differences",
    // Every requirement of an audit, joined with itself.
    args: { with_unchanged: true },
    of: { tool: "list_assessments", argument: "assessment_id", same: "base_assessment_id" },
  },
  { server: "grc", tool: "list_vulnerabilities" },
  { server: "grc", tool: "list_evidence", recorded: [{ answers: [188] }] },
  { server: "grc", tool: "list_risk_scenarios", recorded: [{ answers: [RISK_ASSESSMENTS, 230] }] },
  {
    server: "grc",
    tool: "list_requirements",
    of: { tool: "list_frameworks", argument: "framework_id" },
  },
  {
    server: "grc",
    tool: "list_maturity_levels",
    of: { tool: "list_frameworks", argument: "framework_id" },
  },
  { server: "grc", tool: "list_risk_assessments" },
  { server: "grc", tool: "list_assessments" },
  { server: "grc", tool: "list_primary_assets" },
  { server: "grc", tool: "list_supporting_assets" },
  { server: "grc", tool: "list_organizations" },
  { server: "grc", tool: "list_reference_controls" },
  { server: "grc", tool: "list_cves" },
  { server: "grc", tool: "list_risk_quantifications" },
  { server: "grc", tool: "list_quantified_scenarios" },
  { server: "grc", tool: "list_attack_outcomes", recorded: [{ answers: [STUDIES, 257] }] },

  { server: "core", tool: "list_agents" },
  { server: "core", tool: "list_assignments" },
  { server: "core", tool: "list_runs" },
  { server: "core", tool: "list_run_steps", of: { tool: "list_runs", argument: "run_id" } },
  { server: "core", tool: "list_skills" },
  { server: "core", tool: "list_available_resources" },
  { server: "core", tool: "list_prompts" },
  { server: "core", tool: "list_custom_tools" },
  { server: "core", tool: "list_mcp_servers" },
  { server: "core", tool: "list_integrations" },
  { server: "core", tool: "list_variables" },
  { server: "core", tool: "list_knowledge_bases" },
  {
    server: "core",
    tool: "list_documents",
    of: { tool: "list_knowledge_bases", argument: "knowledge_base_id" },
  },
  { server: "core", tool: "search_knowledge", args: { query: "which controls failed on the endpoint" } },
  { server: "core", tool: "inspect_agent_traces" },
];
