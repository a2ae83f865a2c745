import { isRespondent } from "../rights.js";
import { idsIn, type Json, type Row } from "../world.js";
import { closedToRespondents, shows } from "./assessments.js";
import * as choices from "./choices.js";
import { BY_FOLDER, BY_TIME, empty, type Kind, pick, type View } from "./kind.js";
import { shortOf } from "./library.js";

const ONE = [
  "id",
  "created_at",
  "updated_at",
  "eta",
  "due_date",
  "status",
  "result",
  "extended_result",
  "target_score",
];

/** Requirements of an audit, with result and score. */
export const requirementAssessments: Kind = {
  path: "requirement-assessments",
  model: "RequirementAssessment",
  codename: "requirementassessment",
  verbs: ["PATCH"],
  search: ["requirement__name", "requirement__description", "requirement__urn"],
  fields: {
    status: { kind: "choice", choices: choices.REQUIREMENT_STATUS },
    result: { kind: "choice", choices: choices.RESULT },
    score: { kind: "integer" },
    is_scored: { kind: "boolean" },
    observation: { kind: "text" },
    applied_controls: { kind: "many", path: "applied-controls" },
    evidences: { kind: "many", path: "evidences" },
  },
  filters: {
    folder: BY_FOLDER,
    ...BY_TIME,
    compliance_assessment: {
      kind: "related",
      path: "compliance-assessments",
      of: (row) => [row.compliance_assessment as string],
    },
    applied_controls: { kind: "related", path: "applied-controls", of: (row) => idsIn(row, "applied_controls") },
    evidences: { kind: "related", path: "evidences", of: (row) => idsIn(row, "evidences") },
    result: { kind: "choice", choices: choices.RESULT, of: (row) => row.result },
    requirement__assessable: { kind: "exact", of: (row) => row.assessable },
  },
  read(row, view) {
    const audit = view.world.get("compliance-assessments", row.compliance_assessment)!;
    const node = view.world.get("requirement-nodes", row.requirement)!;
    const leaf = node.assessable === true;
    return {
      ...pick(row, [...ONE, "name", "observation"]),
      description: node.description ?? null,
      evidences: view.refs("evidences", idsIn(row, "evidences")),
      compliance_assessment: auditOf(audit, view),
      folder: view.ref("folders", row.folder),
      perimeter: view.ref("perimeters", audit.perimeter),
      assessable: leaf,
      requirement: requirementOf(node, view),
      ...empty(["security_exceptions"]),
      is_locked: audit.is_locked ?? false,
      applied_controls: view.refs("applied-controls", idsIn(row, "applied_controls")),
      answers: {},
      effective_min_score: leaf ? (audit.min_score ?? null) : null,
      effective_max_score: leaf ? (audit.max_score ?? null) : null,
      effective_scores_definition: leaf ? (audit.scores_definition ?? null) : null,
      is_published: false,
      ...(shows(audit, "is_scored") && { is_scored: row.is_scored ?? false }),
      ...(shows(audit, "score") && { score: row.score ?? null }),
      selected: true,
      mapping_inference: {},
    };
  },
  written: (row) => ({
    ...pick(row, ["id", "requirement", "eta", "due_date", "status", "result", "extended_result", "is_scored", "score"]),
    ...pick(row, ["documentation_score", "target_score", "observation", "respondent_alignment", "folder"]),
    ...pick(row, ["compliance_assessment", "evidences", "applied_controls"]),
    ...empty(["security_exceptions"]),
    is_published: false,
    selected: true,
    mapping_inference: {},
  }),
  closed(row, { world, user }) {
    const audit = world.get("compliance-assessments", row.compliance_assessment)!;
    return isRespondent(world, user, row.folder) ? closedToRespondents(audit) : [];
  },
  save(row, patch, world) {
    const audit = world.get("compliance-assessments", row.compliance_assessment)!;
    if (audit.is_locked === true) {
      return { non_field_errors: ["⚠️ Cannot modify the requirement when the audit is locked."] };
    }
    if (audit.status === "in_review") {
      return { non_field_errors: ["⚠️ Cannot modify the requirement when the audit is in review."] };
    }
    const node = world.get("requirement-nodes", row.requirement);
    if (node?.questions != null && patch.score !== undefined) {
      // Its score comes from the answers to its questions.
      const before = world.get("requirement-assessments", row.id);
      row.score = before?.score ?? null;
      return undefined;
    }
    const [min, max] = [Number(audit.min_score), Number(audit.max_score)];
    if (typeof patch.score === "number" && (patch.score < min || patch.score > max)) {
      return { score: [`Score must be between ${min} and ${max}.`] };
    }
    return undefined;
  },
};

function auditOf(audit: Row, view: View): Json {
  return {
    ...(view.ref("compliance-assessments", audit.id) as object),
    ...pick(audit, ["name", "is_locked", "min_score", "max_score", "score_calculation_method", "field_visibility"]),
    scores_definition: { scale: audit.scores_definition ?? [] },
    progress_status_enabled: true,
    extended_result_enabled: true,
    framework: {
      str: view.str("frameworks", view.world.get("frameworks", audit.framework)!),
      implementation_groups_definition:
        view.world.get("frameworks", audit.framework)?.implementation_groups_definition ?? null,
      field_visibility: {},
    },
  };
}

const NODE = ["id", "urn", "annotation", "name", "description", "typical_evidence", "ref_id", "questions"];
const NODE_MORE = ["implementation_groups", "min_score", "max_score", "scores_definition_ref"];

function requirementOf(node: Row, view: View): Json {
  const parent = view.world
    .all("requirement-nodes")
    .find((one) => one.framework === node.framework && one.urn === node.parent_urn);
  return {
    ...pick(node, [...NODE, ...NODE_MORE]),
    // Shown to whoever sees the requirement, whatever their rights.
    associated_reference_controls: idsIn(node, "reference_controls").flatMap((id) => {
      const control = view.world.get("reference-controls", id);
      return control === undefined
        ? []
        : [{ str: view.str("reference-controls", control), urn: control.urn ?? null, id }];
    }),
    associated_threats: [],
    parent_requirement:
      parent === undefined
        ? null
        : { str: shortOf(parent), ...pick(parent, ["urn", "id", "ref_id", "name", "description"]) },
    display_mode: "default",
    weight: 1,
  };
}
