import { idsIn, type Json, type Row, type World } from "../world.js";
import * as choices from "./choices.js";
import { BY_FOLDER, BY_TIME, empty, type Kind, pick, type View } from "./kind.js";
import { libraryOf } from "./library.js";

const COST = {
  currency: "€",
  amortization_period: 1,
  build: { fixed_cost: 0, people_days: 0 },
  run: { fixed_cost: 0, people_days: 0 },
};
/** What a day of a person costs, where the platform's settings do not say. */
const DAILY_RATE = 500;

/** What a control costs a year, with what it costs once spread over its years. */
function annualCostOf(row: Row): string {
  const { amortization_period: years, build, run } = (row.cost ?? COST) as typeof COST;
  const once = build.fixed_cost + build.people_days * DAILY_RATE;
  return (once / years + run.fixed_cost + run.people_days * DAILY_RATE).toFixed(2);
}

const PLAIN = [
  "created_at",
  "updated_at",
  "name",
  "description",
  "ref_id",
  "status",
  "start_date",
  "eta",
  "expiry_date",
];
const MORE = ["link", "progress_field", "is_published", "observation"];
const UNUSED = ["findings", "stakeholders", "task_templates", "incidents"];

function labels(row: Row): Record<string, Json> {
  return {
    priority: choices.labelOf(choices.PRIORITY, row.priority),
    category: choices.labelOf(choices.CATEGORY, row.category),
    csf_function: choices.labelOf(choices.CSF_FUNCTION, row.csf_function),
    effort: choices.labelOf(choices.EFFORT, row.effort),
    control_impact: choices.labelOf(choices.IMPACT, row.control_impact),
  };
}

function relations(row: Row, view: View): Record<string, Json> {
  return {
    folder: view.ref("folders", row.folder),
    reference_control: view.ref("reference-controls", row.reference_control),
    owner: view.refs("actors", idsIn(row, "owner")),
    assets: view.refs("assets", idsIn(row, "assets")),
    filtering_labels: [],
    is_assigned: idsIn(row, "owner").length > 0,
    linked_models: linkedModels(row, view),
  };
}

function linkedModels(row: Row, view: View): Json {
  const scenarios = view.world.all("risk-scenarios");
  const linked = [];
  if (scenarios.some((s) => idsIn(s, "applied_controls").includes(row.id))) linked.push("risk_scenarios");
  if (scenarios.some((s) => idsIn(s, "existing_applied_controls").includes(row.id))) linked.push("risk_scenarios_e");
  return linked;
}

/** Requirement assessments that a control answers. */
export const answeredBy = (row: Row, { world }: View): string[] => answeredByIn(row, world);

function answeredByIn(row: Row, world: World): string[] {
  return world
    .all("requirement-assessments")
    .filter((r) => idsIn(r, "applied_controls").includes(row.id))
    .map(({ id }) => id);
}

/** Controls. */
export const appliedControls: Kind = {
  path: "applied-controls",
  model: "AppliedControl",
  codename: "appliedcontrol",
  verbs: ["POST", "PATCH", "DELETE"],
  unique: true,
  search: ["name", "description", "ref_id"],
  fields: {
    name: { kind: "text", required: true },
    description: { kind: "text" },
    ref_id: { kind: "text" },
    priority: { kind: "choice", choices: choices.PRIORITY },
    category: { kind: "choice", choices: choices.CATEGORY },
    csf_function: { kind: "choice", choices: choices.CSF_FUNCTION },
    status: { kind: "choice", choices: choices.CONTROL_STATUS, initial: "--" },
    start_date: { kind: "date" },
    eta: { kind: "date" },
    expiry_date: { kind: "date" },
    link: { kind: "url" },
    effort: { kind: "choice", choices: choices.EFFORT },
    control_impact: { kind: "choice", choices: choices.IMPACT },
    progress_field: { kind: "integer", min: 0, max: 100, initial: 0 },
    observation: { kind: "text" },
    folder: { kind: "one", path: "folders" },
    reference_control: { kind: "one", path: "reference-controls" },
    owner: { kind: "many", path: "actors" },
    evidences: { kind: "many", path: "evidences" },
    assets: { kind: "many", path: "assets" },
    cost: { kind: "json", initial: COST },
  },
  filters: {
    folder: BY_FOLDER,
    status: { kind: "choice", choices: choices.CONTROL_STATUS, of: (row) => row.status },
    category: { kind: "choice", choices: choices.CATEGORY, of: (row) => row.category },
    csf_function: { kind: "choice", choices: choices.CSF_FUNCTION, of: (row) => row.csf_function },
    priority: { kind: "choice", choices: choices.PRIORITY, of: (row) => row.priority },
    effort: { kind: "choice", choices: choices.EFFORT, of: (row) => row.effort },
    owner: { kind: "related", path: "actors", of: (row) => idsIn(row, "owner") },
    eta__gte: { kind: "from", of: (row) => row.eta },
    eta__lt: { kind: "before", of: (row) => row.eta },
    requirement_assessments: { kind: "related", path: "requirement-assessments", of: answeredByIn },
    evidences: { kind: "related", path: "evidences", of: (row) => idsIn(row, "evidences") },
    ...BY_TIME,
  },
  row: (row, view) => ({
    ...pick(row, ["id", ...PLAIN, "link", "progress_field", "observation"]),
    ...labels(row),
    cost: row.cost ?? COST,
    ...relations(row, view),
  }),
  read: (row, view) => ({
    ...pick(row, ["id", ...PLAIN, ...MORE]),
    ...labels(row),
    ...relations(row, view),
    ...empty([...UNUSED, "objectives", "security_exceptions"]),
    cost: row.cost ?? COST,
    requirement_assessments: view.refs("requirement-assessments", answeredBy(row, view)),
    path: view.path(row.folder),
    evidences: view.refs("evidences", idsIn(row, "evidences")),
    annual_cost: annualCostOf(row),
    currency: "€",
    annual_cost_display: "",
    ranking_score: 5,
    state: { name: "incoming", hexcolor: "#93c5fd" },
    findings_count: 0,
  }),
  written: (row) => ({
    ...pick(row, ["id", ...PLAIN, ...MORE, "priority", "category", "csf_function", "effort", "control_impact"]),
    ...empty([...UNUSED, "requirement_assessments", "objectives", "security_exceptions", "filtering_labels"]),
    cost: row.cost ?? COST,
    ...pick(row, ["folder", "reference_control", "evidences", "assets", "owner"]),
  }),
  save(row, patch, world) {
    if (row.status === "active") row.progress_field = 100;
    if (patch.evidences !== undefined) linkBack(row, world);
    return undefined;
  },
  created: linkBack,
  deleted(row, world) {
    for (const path of ["requirement-assessments", "risk-scenarios", "evidences"]) {
      for (const other of world.all(path)) {
        for (const field of ["applied_controls", "existing_applied_controls"]) {
          if (idsIn(other, field).includes(row.id)) other[field] = idsIn(other, field).filter((id) => id !== row.id);
        }
      }
    }
  },
};

/** The relation is one: what the control names, names the control. */
function linkBack(control: Row, world: World): void {
  for (const evidence of world.all("evidences")) {
    const others = idsIn(evidence, "applied_controls").filter((id) => id !== control.id);
    const linked = idsIn(control, "evidences").includes(evidence.id);
    evidence.applied_controls = linked ? [...others, control.id] : others;
  }
}

const LIBRARY = ["id", "name", "description", "annotation", "created_at", "updated_at", "urn", "ref_id", "provider"];
const LOCALE = { locale: "en", default_locale: true, is_published: true };

/** Controls that libraries propose. */
export const referenceControls: Kind = {
  path: "reference-controls",
  model: "ReferenceControl",
  codename: "referencecontrol",
  verbs: [],
  search: ["name", "description", "provider", "ref_id"],
  fields: {},
  filters: {
    folder: BY_FOLDER,
    category: { kind: "choice", choices: choices.CATEGORY, of: (row) => row.category },
    csf_function: { kind: "choice", choices: choices.CSF_FUNCTION, of: (row) => row.csf_function },
  },
  str: (row) => `${row.ref_id} - ${row.name}`,
  read: (row, view) => ({
    ...pick(row, [...LIBRARY, "category", "csf_function"]),
    ...LOCALE,
    path: [],
    folder: view.ref("folders", row.folder),
    library: libraryOf(view, {
      str: "usual-controls - Usual controls",
      name: "Usual controls",
      id: row.library as string,
    }),
    filtering_labels: [],
    typical_evidence: ["Signed document, approved and dated"],
  }),
  written: (row) => pick(row, LIBRARY),
};
