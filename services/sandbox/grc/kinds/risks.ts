import { BROKEN } from "../replies.js";
import { idsIn, type Json, type Row, type World } from "../world.js";
import * as choices from "./choices.js";
import { BY_FOLDER, BY_TIME, empty, type Kind, pick } from "./kind.js";
import { levelOf, RISK_MATRIX, stepOf } from "./matrices.js";

const KNOWLEDGE = ["low", "medium", "high"];

function knowledgeOf(value: unknown): Json {
  const name = KNOWLEDGE[Number(value)];
  const said = `The strength of the knowledge supporting the assessment is ${name ?? "undefined"}`;
  return name === undefined
    ? { name: "--", description: said }
    : { name, description: said, symbol: "◔◑◕"[Number(value)]! };
}

const STAGES = ["inherent", "current", "residual"] as const;
const SCENARIO = [
  "id",
  "created_at",
  "updated_at",
  "name",
  "description",
  "existing_controls",
  "ref_id",
  "justification",
];
const MANY = { kind: "many", path: "applied-controls" } as const;
const INDEX = { kind: "integer", initial: -1 } as const;

function perimeterFolderOf(row: Row, world: World): string[] {
  const assessment = world.get("risk-assessments", row.risk_assessment);
  return [world.get("perimeters", assessment?.perimeter)?.folder ?? ""];
}

/** Risk scenarios with their levels. */
export const riskScenarios: Kind = {
  path: "risk-scenarios",
  model: "RiskScenario",
  codename: "riskscenario",
  verbs: ["POST", "PATCH", "DELETE"],
  search: ["name", "description", "ref_id"],
  fields: {
    name: { kind: "text", required: true },
    description: { kind: "text" },
    ref_id: { kind: "text" },
    existing_controls: { kind: "text", initial: "" },
    justification: { kind: "text" },
    risk_assessment: { kind: "one", path: "risk-assessments", required: true },
    treatment: { kind: "choice", choices: choices.TREATMENT, initial: "open" },
    strength_of_knowledge: INDEX,
    assets: { kind: "many", path: "assets" },
    owner: { kind: "many", path: "actors" },
    applied_controls: MANY,
    existing_applied_controls: MANY,
    ...Object.fromEntries(STAGES.flatMap((s) => [`${s}_proba`, `${s}_impact`].map((name) => [name, INDEX]))),
  },
  filters: {
    // By the folder of the assessment's perimeter, where it has one; of several only the last counts.
    folder: { kind: "related", path: "folders", of: perimeterFolderOf, last: true },
    ...BY_TIME,
    risk_assessment: { kind: "related", path: "risk-assessments", of: (row) => [row.risk_assessment as string] },
    // Those in place count as well.
    applied_controls: {
      kind: "related",
      path: "applied-controls",
      of: (row) => [...idsIn(row, "applied_controls"), ...idsIn(row, "existing_applied_controls")],
    },
    assets: { kind: "related", path: "assets", of: (row) => idsIn(row, "assets") },
    owner: { kind: "related", path: "actors", of: (row) => idsIn(row, "owner") },
    treatment: { kind: "choice", choices: choices.TREATMENT, of: (row) => row.treatment },
    current_level: { kind: "exact", of: (row) => row.current_level },
    residual_level: { kind: "exact", of: (row) => row.residual_level },
  },
  folderOf: (body, world) => world.get("risk-assessments", body.risk_assessment)?.folder,
  str(row, view) {
    const assessment = view.world.get("risk-assessments", row.risk_assessment);
    return `${view.world.get("folders", row.folder)?.name}/${assessment?.name} - ${assessment?.version}/${row.name}`;
  },
  read(row, view) {
    const assessment = view.world.get("risk-assessments", row.risk_assessment)!;
    const rated = STAGES.flatMap((stage) => [
      [`${stage}_proba`, stepOf(RISK_MATRIX, "probability", row[`${stage}_proba`])],
      [`${stage}_impact`, stepOf(RISK_MATRIX, "impact", row[`${stage}_impact`])],
      [`${stage}_level`, stepOf(RISK_MATRIX, "risk", row[`${stage}_level`])],
    ]);
    return {
      ...pick(row, [...SCENARIO, "treatment"]),
      ...Object.fromEntries(rated),
      str: view.str("risk-scenarios", row),
      risk_matrix: view.ref("risk-matrices", assessment.risk_matrix),
      risk_assessment: {
        ...(view.ref("risk-assessments", assessment.id, "name") as object),
        is_locked: assessment.is_locked ?? false,
      },
      folder: view.ref("folders", row.folder),
      version: assessment.version ?? null,
      operational_scenario: null,
      risk_origin: null,
      assets: view.refs("assets", idsIn(row, "assets")),
      applied_controls: view.refs("applied-controls", idsIn(row, "applied_controls")),
      existing_applied_controls: view.refs("applied-controls", idsIn(row, "existing_applied_controls")),
      owner: view.refs("actors", idsIn(row, "owner")),
      ...empty(["threats", "qualifications", "antecedent_scenarios", "incidents", "security_exceptions"]),
      ...empty(["filtering_labels", "vulnerabilities"]),
      strength_of_knowledge: knowledgeOf(row.strength_of_knowledge),
      within_tolerance: "--",
      is_published: false,
    };
  },
  written: (row) => ({
    ...pick(row, [...SCENARIO, "treatment", "strength_of_knowledge", "risk_assessment", "assets", "applied_controls"]),
    ...pick(row, ["existing_applied_controls", "risk_matrix", "operational_scenario", "risk_origin"]),
    ...Object.fromEntries(
      STAGES.flatMap((s) => [`${s}_proba`, `${s}_impact`, `${s}_level`].map((n) => [n, row[n] ?? -1])),
    ),
    owner: idsIn(row, "owner"),
    ...empty(["filtering_labels", "vulnerabilities", "incidents", "threats", "antecedent_scenarios"]),
    ...empty(["qualifications", "security_exceptions"]),
    is_published: false,
  }),
  save(row, _patch, world) {
    const isNew = world.get("risk-scenarios", row.id) === undefined;
    const isLocked = world.get("risk-assessments", row.risk_assessment)?.is_locked === true;
    // What is new goes into a locked one all the same.
    if (isLocked && !isNew) {
      const why = "⚠️ Cannot modify the risk scenario when the risk assessment is locked.";
      return { non_field_errors: [why] };
    }
    row.risk_matrix = world.get("risk-assessments", row.risk_assessment)?.risk_matrix ?? null;
    row.ref_id ??= `R.${String(world.all("risk-scenarios").length + 1).padStart(2, "0")}`;
    try {
      for (const stage of STAGES) {
        row[`${stage}_level`] = levelOf(RISK_MATRIX, row[`${stage}_proba`], row[`${stage}_impact`]);
      }
      return undefined;
    } catch (error) {
      return isNew ? BROKEN : [(error as Error).message];
    }
  },
};

const ASSESSMENT = ["id", "created_at", "updated_at", "name", "description", "eta", "due_date", "version", "status"];

/** Risk assessments. */
export const riskAssessments: Kind = {
  path: "risk-assessments",
  model: "RiskAssessment",
  codename: "riskassessment",
  verbs: [],
  search: ["name", "description"],
  fields: {},
  filters: { folder: BY_FOLDER, status: { kind: "choice", choices: choices.AUDIT_STATUS, of: (row) => row.status } },
  str: (row) => `${row.name} - ${row.version}`,
  read(row, view) {
    const scenarios = view.world.all("risk-scenarios").filter((one) => one.risk_assessment === row.id);
    return {
      ...pick(row, [...ASSESSMENT, "observation", "is_locked", "ref_id", "ebios_rm_study"]),
      path: view.path(row.folder),
      perimeter: view.housed("perimeters", row.perimeter),
      ...empty(["authors", "reviewers", "validation_flows"]),
      folder: view.ref("folders", row.folder),
      str: view.str("risk-assessments", row),
      risk_scenarios: scenarios.map((one) => view.ref("risk-scenarios", one.id, "name", "ref_id")),
      risk_scenarios_count: scenarios.length,
      risk_matrix: view.ref("risk-matrices", row.risk_matrix),
      is_published: false,
      risk_tolerance: -1,
      auto_sync: false,
    };
  },
  written: (row) => pick(row, ASSESSMENT),
};
