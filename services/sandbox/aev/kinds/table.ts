import { randomUUID } from "node:crypto";
import { refusal } from "../replies.js";
import type { Field, Json, Kind, Values, Verb } from "./kind.js";

const ALL: readonly Verb[] = ["search", "list", "get", "create", "update", "delete"];
const SEARCHED: readonly Verb[] = ["search", "list", "get"];

const text: Field = { type: "text" };
const needed: Field = { type: "text", required: true };
const searched: Field = { type: "text", filter: true, sort: true, search: true };
const named: Field = { ...searched, required: true };
const texts: Field = { type: "texts" };
const tags: Field = { type: "texts", filter: true };
const number: Field = { type: "number" };
const flag: Field = { type: "flag", initial: false };
/** What the platform sets, or nothing does. */
const set = (initial: Field["initial"] = null): Field => ({ type: "json", fixed: true, initial });
const unset = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, set()]));

const ARCHITECTURES = ["x86_64", "arm64", "Unknown"];
const PLATFORMS = ["Linux", "Windows", "MacOS", "Container", "Service", "Generic", "Internal", "Unknown"];
const FINDING_TYPES =
  "text number port portscan ipv4 ipv6 credentials cve username share admin_username group computer password_policy delegation sid vulnerability account_with_password_not_required asreproastable_account kerberoastable_account".split(
    " ",
  );

/** The flags of a challenge, each an object of its own. */
export function flagsOf(given: Json, challenge: string, now: number): Json {
  const at = new Date(now).toISOString();
  return (given as Values[]).map(({ flag_type = "", flag_value = null }) => {
    if (!["VALUE", "VALUE_CASE", "REGEXP"].includes(String(flag_type)))
      throw refusal(400, "The flag type is not known");
    const times = { flag_created_at: at, flag_updated_at: at };
    return { listened: true, flag_id: randomUUID(), ...times, flag_type, flag_value, flag_challenge: challenge };
  });
}

/** The kinds that are served from their fields. */
export const KINDS: readonly Kind[] = [
  {
    path: "tags",
    id: "tag_id",
    verbs: ["search", "list", "create", "update", "delete"],
    manage: "PLATFORM_SETTINGS",
    fields: { tag_name: { ...needed, sort: true, search: true }, tag_color: needed },
    listened: true,
    unknown: "Tag not found",
    forgiving: true,
  },
  {
    path: "asset_groups",
    id: "asset_group_id",
    // A change is answered in a way of its own; see routes/asset-groups.ts.
    verbs: ["search", "list", "get", "create", "delete"],
    access: "ASSETS",
    manage: "ASSETS",
    fields: {
      asset_group_name: named,
      asset_group_description: { type: "text", filter: true, sort: true },
      asset_group_external_reference: set(),
      asset_group_dynamic_filter: { type: "json", initial: { mode: "and", filters: [] } },
      asset_group_assets: { type: "texts", fixed: true },
      asset_group_dynamic_assets: { type: "texts", fixed: true },
      asset_group_tags: tags,
    },
    times: "asset_group",
    row: [
      "asset_group_name",
      "asset_group_description",
      "asset_group_dynamic_filter",
      "asset_group_assets",
      "asset_group_tags",
    ],
    listened: true,
    placesNulls: true,
    unknown: "Asset group not found: {id}",
    silent: ["update"],
  },
  {
    path: "endpoints",
    id: "asset_id",
    // Searches are answered with the agents; see routes/catalogue.ts.
    verbs: ["get", "find", "create", "update", "delete"],
    access: "ASSETS",
    manage: "ASSETS",
    creates: "endpoints/agentless",
    fields: {
      asset_name: needed,
      asset_description: text,
      asset_external_reference: text,
      asset_tags: tags,
      endpoint_hostname: text,
      endpoint_platform: { ...needed, words: PLATFORMS },
      endpoint_arch: { ...needed, words: ARCHITECTURES },
      endpoint_ips: texts,
      endpoint_mac_addresses: texts,
      endpoint_is_eol: flag,
      endpoint_seen_ip: set(),
      asset_type: set(),
      asset_agents: set([]),
    },
    times: "asset",
    one: [
      "asset_name",
      "asset_description",
      "endpoint_hostname",
      "endpoint_platform",
      "endpoint_arch",
      "endpoint_ips",
      "endpoint_mac_addresses",
      "asset_agents",
      "asset_tags",
      "endpoint_is_eol",
      "endpoint_seen_ip",
    ],
    sparse: true,
    answers: { update: "one" },
    listened: true,
    unknown: "Endpoint not found",
    forgiving: true,
    silent: ["update"],
  },
  {
    path: "findings",
    id: "finding_id",
    // Searches are answered with where each came from; see routes/catalogue.ts.
    verbs: ["get", "create", "update", "delete"],
    access: "FINDINGS",
    manage: "FINDINGS",
    fields: {
      finding_field: needed,
      finding_type: { ...needed, words: FINDING_TYPES },
      finding_value: needed,
      finding_labels: texts,
      finding_inject_id: { ...needed, missing: "The given id must not be null" },
      finding_name: set(),
      ...Object.fromEntries(
        ["tags", "assets", "teams", "users", "asset_groups"].map((name) => [`finding_${name}`, set([])]),
      ),
      ...unset("finding_scenario", "finding_simulation"),
    },
    times: "finding",
    listened: true,
    unknown: "Finding not found with id: {id}",
    unique: ["finding_inject_id", "finding_type", "finding_value", "finding_field"],
    silent: ["create", "update"],
    gone: 204,
  },
  {
    path: "teams",
    id: "team_id",
    verbs: ALL,
    manage: "TEAMS_AND_PLAYERS",
    fields: {
      team_name: named,
      team_description: { ...text, sort: true, search: true },
      team_organization: text,
      team_contextual: flag,
      team_tags: tags,
      team_exercises: texts,
      team_scenarios: texts,
      team_users: { type: "texts", fixed: true },
      team_users_number: { ...number, fixed: true, initial: 0 },
    },
    times: "team",
    row: [
      ...["team_name", "team_description", "team_exercises", "team_scenarios", "team_contextual", "team_tags"],
      ...["team_users", "team_organization", "team_updated_at", "team_users_number"],
    ],
    listened: true,
    placesNulls: true,
    unknown: "Team not found",
    forgiving: true,
  },
  {
    path: "organizations",
    id: "organization_id",
    verbs: ["search", "list", "create", "update", "delete"],
    manage: "TEAMS_AND_PLAYERS",
    fields: {
      // Looked into, and not sorted by.
      organization_name: { type: "text", search: true, required: true },
      organization_description: searched,
      organization_tags: tags,
      organization_injects: set([]),
      organization_injects_number: set(0),
    },
    times: "organization",
    listened: true,
    unknown: "Organization not found",
    forgiving: true,
  },
  {
    path: "documents",
    id: "document_id",
    // Writes have rules of their own; see routes/documents.ts.
    verbs: ["search", "list", "get", "delete"],
    access: "DOCUMENTS",
    manage: "DOCUMENTS",
    fields: {
      document_name: { ...searched, filter: false, fixed: true, initial: null },
      document_target: set(),
      document_description: { ...searched, filter: false },
      document_type: { ...searched, filter: false, fixed: true },
      document_tags: texts,
      document_exercises: texts,
      document_scenarios: texts,
      document_can_be_deleted: set(true),
    },
    row: [
      "document_name",
      "document_description",
      "document_exercises",
      "document_scenarios",
      "document_type",
      "document_tags",
      "document_can_be_deleted",
    ],
    one: [
      "listened",
      "document_name",
      "document_target",
      "document_description",
      "document_type",
      "document_tags",
      "document_exercises",
      "document_scenarios",
    ],
    answers: { update: "one" },
    listened: true,
    unknown: "Document not found",
  },
  {
    path: "channels",
    id: "channel_id",
    verbs: ["list", "get", "create", "update", "delete"],
    access: "CHANNELS",
    manage: "CHANNELS",
    fields: {
      channel_type: needed,
      channel_name: needed,
      channel_description: needed,
      logos: set([]),
      ...unset("channel_logo_dark", "channel_logo_light"),
      ...Object.fromEntries(
        ["mode", "primary_color_dark", "primary_color_light", "secondary_color_dark", "secondary_color_light"].map(
          (name) => [`channel_${name}`, text],
        ),
      ),
    },
    times: "channel",
    listened: true,
    unknown: "null",
    forgiving: true,
  },
  {
    path: "challenges",
    id: "challenge_id",
    verbs: ["list", "create", "update", "delete"],
    access: "CHALLENGES",
    manage: "CHALLENGES",
    fields: {
      challenge_name: needed,
      challenge_category: text,
      challenge_content: text,
      challenge_score: number,
      challenge_max_attempts: number,
      challenge_flags: { type: "json", required: true, made: flagsOf },
      challenge_tags: texts,
      challenge_documents: texts,
      challenge_exercises: set([]),
      challenge_scenarios: set([]),
      challenge_virtual_publication: set(),
    },
    times: "challenge",
    listened: true,
    unknown: "null",
    forgiving: true,
  },
  {
    path: "lessons_templates",
    id: "lessonstemplate_id",
    verbs: ["search", "list", "create", "update", "delete"],
    access: "LESSONS_LEARNED",
    manage: "LESSONS_LEARNED",
    fields: {
      lessons_template_name: { ...needed, sort: true },
      lessons_template_description: { ...text, sort: true },
    },
    times: "lessons_template",
    listened: true,
    unknown: "Lessons template not found",
    forgiving: true,
  },
  {
    path: "kill_chain_phases",
    id: "phase_id",
    verbs: SEARCHED,
    fields: {
      phase_external_id: text,
      phase_stix_id: text,
      phase_name: { ...searched, filter: false },
      phase_shortname: text,
      phase_kill_chain_name: { ...searched, filter: false },
      phase_description: text,
      phase_order: { ...number, sort: true },
    },
    times: "phase",
    listened: true,
    unknown: "Kill chain phase not found",
  },
  {
    path: "attack_patterns",
    id: "attack_pattern_id",
    // Searches are older than the table; see routes/catalogue.ts.
    verbs: ["get"],
    fields: Object.fromEntries(
      ["stix_id", "name", "description", "external_id", "platforms", "permissions_required", "parent"]
        .concat("kill_chain_phases")
        .map((name) => [`attack_pattern_${name}`, text]),
    ),
    times: "attack_pattern",
    listened: true,
    unknown: "Attack pattern not found with id: {id}",
  },
  {
    path: "mitigations",
    id: "mitigation_id",
    verbs: SEARCHED,
    fields: {
      mitigation_stix_id: text,
      mitigation_name: { ...searched, filter: false },
      mitigation_description: { ...searched, filter: false },
      mitigation_external_id: { ...searched, filter: false },
      mitigation_log_sources: texts,
      mitigation_threat_hunting_techniques: text,
      mitigation_attack_patterns: texts,
    },
    times: "mitigation",
    listened: true,
    unknown: "Mitigation not found",
  },
  {
    path: "domains",
    id: "domain_id",
    verbs: ["list"],
    fields: { domain_name: searched, domain_color: text },
    times: "domain",
    listened: true,
    unknown: "Domain not found",
  },
  {
    path: "vulnerabilities",
    id: "vulnerability_id",
    verbs: ["search", "get", "create", "update", "delete"],
    manage: "TENANT_SETTINGS",
    fields: {
      vulnerability_external_id: named,
      vulnerability_cvss_v31: { type: "number", required: true, max: 10, filter: true, sort: true },
      vulnerability_published: { ...text, sort: true },
      vulnerability_description: text,
      vulnerability_reference_urls: texts,
      vulnerability_cwes: { type: "json", initial: [] },
      vulnerability_source_identifier: text,
      vulnerability_vuln_status: { ...text, words: ["ANALYZED", "DEFERRED", "MODIFIED"] },
      vulnerability_cisa_exploit_add: text,
      vulnerability_cisa_action_due: text,
      vulnerability_cisa_required_action: text,
      vulnerability_cisa_vulnerability_name: text,
      // Only an Enterprise licence keeps it.
      ...unset("vulnerability_remediation"),
    },
    row: ["vulnerability_external_id", "vulnerability_cvss_v31", "vulnerability_published"],
    answers: { create: "row", update: "row" },
    keeps: ["vulnerability_external_id", "vulnerability_cvss_v31"],
    unknown: "Vulnerability not found with id: {id}",
    unique: ["vulnerability_external_id"],
    forgiving: true,
  },
  {
    path: "players",
    id: "user_id",
    verbs: ["search"],
    fields: {
      user_firstname: searched,
      user_lastname: searched,
      user_email: searched,
      user_organization: { type: "text", filter: true },
      user_teams: tags,
      user_tags: tags,
      ...unset("user_country", "user_phone", "user_phone2", "user_pgp_key"),
    },
    row: [
      ...["user_firstname", "user_lastname", "user_email", "user_organization", "user_tags"],
      ...["user_country", "user_phone", "user_phone2", "user_pgp_key"],
    ],
    placesNulls: true,
    unknown: "User not found",
  },
];
