import type { Json } from "../world.js";
import type { Choices } from "./choices.js";
import type { Field } from "./field.js";

/** A kind of object that is no more than its fields: it is listed, read and written from this row alone. */
export interface PlainKind {
  /** Below /api, such as entities. */
  readonly path: string;
  /** As in "No … matches the given query."; in lower case, its name in codenames. */
  readonly model: string;
  readonly fields: Readonly<Record<string, Field>>;
  /** The fields that a list filters by, besides the folder. */
  readonly filters: readonly string[];
  readonly search: readonly string[];
  /** What every one answers with that is kept nowhere. */
  readonly fixed?: Readonly<Record<string, Json>>;
  /** What other kinds answer with, and this one does not. */
  readonly without?: readonly string[];
}

const TEXT: Field = { kind: "text", initial: "" };
const NOTE: Field = { kind: "text" };
const DATE: Field = { kind: "date" };
const OWNERS: Field = { kind: "many", path: "actors" };
const NAMED = { name: { kind: "text", required: true }, description: NOTE } as const;
const REFERENCED = { ...NAMED, ref_id: TEXT } as const;
const many = (path: string): Field => ({ kind: "many", path });
const one = (path: string, required = false): Field => ({ kind: "one", path, ...(required && { required }) });
const integer = (initial: number): Field => ({ kind: "integer", initial });
const choice = (choices: Choices, initial: Json): Field => ({ kind: "choice", choices, initial });
/** Codes that stand for themselves. */
const words = (...codes: readonly string[]): Choices => Object.fromEntries(codes.map((code) => [code, code]));

const SEVERITY: Choices = { "-1": "undefined", 0: "info", 1: "low", 2: "medium", 3: "high", 4: "critical" };
const INCIDENT_SEVERITY: Choices = { 1: "Critical", 2: "Major", 3: "Moderate", 4: "Minor", 5: "Low", 6: "unknown" };
const INCIDENT_STATUS: Choices = {
  new: "New",
  ongoing: "Ongoing",
  resolved: "Resolved",
  closed: "Closed",
  dismissed: "Dismissed",
};
const DETECTION: Choices = { internally_detected: "Internal", externally_detected: "External" };
const DORA = ["country", "currency", "dora_entity_type", "dora_entity_hierarchy", "dora_competent_authority"];

/** The kinds that are served from their fields. */
export const PLAIN_KINDS: readonly PlainKind[] = [
  {
    path: "entities",
    model: "Entity",
    search: ["name", "description", "legal_identifiers"],
    filters: ["name", "ref_id", "is_active", "parent_entity", "country", "currency", "dora_entity_type"],
    fields: {
      ...REFERENCED,
      mission: TEXT,
      reference_link: { kind: "url" },
      is_active: { kind: "boolean", initial: true },
      parent_entity: one("entities"),
      legal_identifiers: TEXT,
      ...Object.fromEntries([...DORA, "dora_provider_person_type"].map((name) => [name, TEXT])),
      dora_assets_value: { kind: "json" },
      default_dependency: integer(0),
      default_penetration: integer(0),
      default_maturity: integer(1),
      default_trust: integer(1),
      owned_folders: many("folders"),
    },
    fixed: {
      branches: [],
      relationship: [],
      contracts: [],
      default_criticality: 0,
      filtering_labels: [],
      subcontracts_count: 0,
      subcontracts_usage: [],
      builtin: false,
    },
    without: ["path"],
  },
  {
    path: "solutions",
    model: "Solution",
    search: ["name", "description", "ref_id"],
    filters: ["name", "ref_id", "is_active", "provider_entity", "assets", "criticality", "owner"],
    fields: {
      ...REFERENCED,
      provider_entity: one("entities", true),
      recipient_entity: one("entities"),
      is_active: { kind: "boolean", initial: true },
      criticality: integer(0),
      assets: many("assets"),
      owner: OWNERS,
    },
    fixed: { contracts: [], filtering_labels: [] },
  },
  {
    path: "representatives",
    model: "Representative",
    search: ["email"],
    filters: ["entity", "ref_id"],
    fields: { ref_id: TEXT, entity: one("entities", true), email: TEXT, first_name: TEXT, last_name: TEXT, role: TEXT },
    fixed: { user: null, phone: "", filtering_labels: [] },
    without: ["path", "name"],
  },
  {
    path: "contracts",
    model: "Contract",
    search: ["name", "description", "ref_id"],
    filters: ["name", "provider_entity", "beneficiary_entity", "solutions", "status", "owner", "end_date"],
    fields: {
      ...REFERENCED,
      provider_entity: one("entities"),
      beneficiary_entity: one("entities"),
      solutions: many("solutions"),
      evidences: many("evidences"),
      status: choice(words("draft", "active", "expired", "terminated"), "draft"),
      start_date: DATE,
      end_date: DATE,
      owner: OWNERS,
    },
    fixed: { overarching_contract: null, filtering_labels: [] },
  },
  {
    path: "organisation-objectives",
    model: "OrganisationObjective",
    search: ["name", "description"],
    filters: ["status", "health", "issues", "assigned_to"],
    fields: {
      ...REFERENCED,
      observation: NOTE,
      status: choice(words("draft", "in_progress", "in_review", "deprecated", "done"), "draft"),
      health: choice(words("on_track", "at_risk", "off_track"), "on_track"),
      issues: many("organisation-issues"),
      assets: many("assets"),
      assigned_to: OWNERS,
      eta: DATE,
      due_date: DATE,
    },
    fixed: { tasks: [], metrics: [] },
  },
  {
    path: "organisation-issues",
    model: "OrganisationIssue",
    search: ["name", "description"],
    filters: ["category", "origin", "status"],
    fields: {
      ...REFERENCED,
      observation: NOTE,
      category: choice(words("regulatory", "economic", "political", "organisational", "technological"), "regulatory"),
      origin: choice(words("internal", "external"), "internal"),
      status: choice(words("draft", "active", "inactive", "archived"), "draft"),
      assets: many("assets"),
      start_date: DATE,
      expiration_date: DATE,
    },
  },
  {
    path: "vulnerabilities",
    model: "Vulnerability",
    search: ["name", "description", "ref_id"],
    filters: [
      ...["assets", "status", "severity", "applied_controls", "security_exceptions", "security_advisories"],
      ...["created_at__gte", "created_at__lt"],
    ],
    fields: {
      ...REFERENCED,
      severity: choice(SEVERITY, -1),
      status: choice(
        words("--", "potential", "exploitable", "mitigated", "fixed", "not_exploitable", "unaffected"),
        "--",
      ),
      assets: many("assets"),
      applied_controls: many("applied-controls"),
      security_exceptions: many("security-exceptions"),
      security_advisories: many("security-advisories"),
      eta: DATE,
      due_date: DATE,
      detected_at: DATE,
      published_date: DATE,
    },
    fixed: { filtering_labels: [], cwes: [], state: { name: "on track", hexcolor: "#93c5fd" } },
    without: ["is_published"],
  },
  {
    path: "incidents",
    model: "Incident",
    search: ["name", "description", "ref_id"],
    filters: ["status", "severity", "detection", "owners", "entities", "assets", "applied_controls"],
    fields: {
      ...REFERENCED,
      status: choice(INCIDENT_STATUS, "new"),
      severity: choice(INCIDENT_SEVERITY, 6),
      detection: choice(DETECTION, "internally_detected"),
      reported_at: NOTE,
      link: { kind: "url" },
      owners: OWNERS,
      entities: many("entities"),
      assets: many("assets"),
      applied_controls: many("applied-controls"),
    },
    fixed: { qualifications: [], threats: [], timeline_entries: [], filtering_labels: [] },
  },
  {
    path: "findings-assessments",
    model: "FindingsAssessment",
    search: ["name", "description", "ref_id"],
    filters: ["name", "ref_id", "status", "perimeter", "category", "owner"],
    fields: {
      ...REFERENCED,
      perimeter: one("perimeters"),
      category: choice(words("--", "pentest", "audit", "self_identified"), "--"),
      status: choice(words("planned", "in_progress", "in_review", "done", "deprecated"), "planned"),
      owner: OWNERS,
      eta: DATE,
      due_date: DATE,
    },
    fixed: { evidences: [], authors: [], reviewers: [], is_locked: false, version: "1.0" },
  },
  {
    path: "findings",
    model: "Finding",
    search: ["name", "description"],
    filters: ["name", "owner", "status", "severity", "findings_assessment", "vulnerabilities", "applied_controls"],
    fields: {
      ...REFERENCED,
      findings_assessment: one("findings-assessments", true),
      status: choice(words("--", "identified", "confirmed", "dismissed", "mitigated", "resolved", "closed"), "--"),
      severity: choice(SEVERITY, -1),
      priority: { kind: "integer", min: 1, max: 4 },
      owner: OWNERS,
      vulnerabilities: many("vulnerabilities"),
      applied_controls: many("applied-controls"),
      evidences: many("evidences"),
      due_date: DATE,
      observation: NOTE,
    },
    fixed: { reference_controls: [], filtering_labels: [] },
  },
  {
    path: "risk-acceptances",
    model: "RiskAcceptance",
    search: ["name", "description", "justification"],
    filters: ["state", "risk_scenarios", "expiry_date"],
    fields: {
      ...NAMED,
      state: choice(words("created", "submitted", "accepted", "rejected", "revoked"), "created"),
      risk_scenarios: many("risk-scenarios"),
      expiry_date: DATE,
      justification: NOTE,
    },
    fixed: { approver: null, accepted_at: null, rejected_at: null, revoked_at: null },
  },
  {
    path: "security-exceptions",
    model: "SecurityException",
    search: ["name", "description", "ref_id"],
    filters: ["name", "owners", "severity", "status", "expiration_date"],
    fields: {
      ...REFERENCED,
      severity: choice(SEVERITY, -1),
      status: choice(words("draft", "in_review", "approved", "resolved", "expired", "deprecated"), "draft"),
      expiration_date: DATE,
      owners: OWNERS,
      assets: many("assets"),
      applied_controls: many("applied-controls"),
    },
    fixed: { approver: null, requirement_assessments: [], risk_scenarios: [], vulnerabilities: [] },
  },
  {
    path: "campaigns",
    model: "Campaign",
    search: ["name", "description"],
    filters: ["frameworks", "perimeters", "status"],
    fields: {
      ...NAMED,
      frameworks: many("frameworks"),
      perimeters: many("perimeters"),
      status: choice(words("--", "in_progress", "in_review", "done", "deprecated"), "--"),
      start_date: DATE,
      due_date: DATE,
    },
  },
  {
    path: "task-templates",
    model: "TaskTemplate",
    search: ["ref_id", "name"],
    filters: ["assigned_to", "is_recurrent", "applied_controls", "evidences"],
    fields: {
      ...REFERENCED,
      is_recurrent: { kind: "boolean", initial: false },
      task_date: DATE,
      assigned_to: OWNERS,
      assets: many("assets"),
      applied_controls: many("applied-controls"),
      evidences: many("evidences"),
    },
    fixed: { schedule: null, enabled: true, filtering_labels: [] },
  },
];
