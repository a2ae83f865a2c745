import { randomUUID } from "node:crypto";
import { detail, ok, type Reply } from "../replies.js";
import { reaches } from "../rights.js";
import { idsIn, type Json, type Row, type World } from "../world.js";
import * as choices from "./choices.js";
import { BY_FOLDER, empty, type Kind, pick, type View } from "./kind.js";
import { HIDDEN_SCORES, treeOf } from "./library.js";

type Visibility = Record<string, { auditor: string; respondent?: string }>;

/** Whether the audit shows a field to auditors. */
export function shows(audit: Row, field: string): boolean {
  return (audit.field_visibility as unknown as Visibility)[field]?.auditor !== "hidden";
}

/** The fields that an audit closes to those who answer it. */
export function closedToRespondents(audit: Row): string[] {
  const pairs = Object.entries(audit.field_visibility as unknown as Visibility);
  return pairs.filter(([, { respondent = "edit" }]) => respondent !== "edit").map(([field]) => field);
}

const AUDIT = ["id", "created_at", "updated_at", "is_published", "name", "description", "eta", "due_date", "version"];
const AUDIT_MORE = ["status", "observation", "is_locked", "ref_id", "min_score", "max_score", "computed_outcome"];
const AUDIT_LAST = [
  "score_calculation_method",
  "target_score",
  "anchor_na_to_target",
  "auto_sync",
  "scores_definition",
];

/** Audits of a framework. */
export const complianceAssessments: Kind = {
  path: "compliance-assessments",
  model: "ComplianceAssessment",
  codename: "complianceassessment",
  verbs: ["POST", "PATCH", "DELETE"],
  actions: { tree: requirementsOf, global_score: scoreOf, section_compliance: sectionsOf },
  search: ["name", "description", "ref_id", "framework__name"],
  fields: {
    name: { kind: "text", required: true },
    description: { kind: "text" },
    ref_id: { kind: "text" },
    framework: { kind: "one", path: "frameworks", required: true },
    perimeter: { kind: "one", path: "perimeters" },
    status: { kind: "choice", choices: choices.AUDIT_STATUS, initial: "planned" },
    version: { kind: "text", initial: "1.0" },
    is_locked: { kind: "boolean", initial: false },
    selected_implementation_groups: { kind: "json", initial: [] },
    field_visibility: { kind: "json", initial: HIDDEN_SCORES },
    score_calculation_method: { kind: "text", initial: "average" },
    anchor_na_to_target: { kind: "boolean", initial: false },
    auto_sync: { kind: "boolean", initial: false },
  },
  filters: {
    folder: BY_FOLDER,
    framework: { kind: "related", path: "frameworks", of: (row) => [row.framework as string] },
    status: { kind: "choice", choices: choices.AUDIT_STATUS, of: (row) => row.status },
  },
  folderOf: (body, world) => world.get("perimeters", body.perimeter)?.folder,
  row: (row, view) => ({
    ...pick(row, ["id", "ref_id", "name", "description", "version", "computed_outcome", "status", "is_locked", "eta"]),
    ...pick(row, ["due_date", "created_at", "updated_at"]),
    framework: view.ref("frameworks", row.framework),
    folder: view.ref("folders", row.folder),
    perimeter: view.ref("perimeters", row.perimeter),
    progress: 0,
    path: view.path(row.folder),
  }),
  read(row, view) {
    const framework = view.world.get("frameworks", row.framework)!;
    return {
      ...pick(row, [...AUDIT, ...AUDIT_MORE, ...AUDIT_LAST, "field_visibility"]),
      ...empty(["authors", "reviewers", "assets", "evidences", "validation_flows"]),
      // By name, while they are written by reference.
      selected_implementation_groups: groupsOf(framework)
        .filter(({ ref_id }) => idsIn(row, "selected_implementation_groups").includes(ref_id))
        .map(({ name }) => name),
      path: view.path(row.folder),
      perimeter: view.housed("perimeters", row.perimeter),
      folder: view.ref("folders", row.folder),
      campaign: null,
      framework: view.sees("frameworks", framework) ? frameworkOf(framework, view) : {},
      progress: 0,
      answers_progress: null,
      scoring_enabled: shows(row, "score"),
      show_documentation_score: false,
      extended_result_enabled: true,
      progress_status_enabled: true,
      is_published: false,
    };
  },
  written: (row) => ({
    ...pick(row, [...AUDIT, ...AUDIT_MORE, ...AUDIT_LAST, "field_visibility", "folder", "perimeter", "framework"]),
    ...empty(["genericcollection", "reviewers", "authors", "assets", "evidences"]),
    selected_implementation_groups: idsIn(row, "selected_implementation_groups"),
    scores_definition: row.scores_definition == null ? null : { scale: row.scores_definition },
    campaign: null,
    is_published: false,
  }),
  save(row, patch, world) {
    const framework = world.get("frameworks", row.framework);
    row.min_score ??= framework?.min_score ?? null;
    row.max_score ??= framework?.max_score ?? null;
    row.scores_definition ??= framework?.scores_definition ?? null;
    if (patch.field_visibility !== undefined) {
      row.field_visibility = { ...(HIDDEN_SCORES as object), ...(patch.field_visibility as object) };
      if (shows(row, "score")) scoreLowest(row, world);
    }
    return undefined;
  },
  created(row, world) {
    for (const node of world.all("requirement-nodes")) {
      if (node.framework === row.framework) assess(row, node, world, randomUUID(), row.created_at);
    }
  },
  deleted(row, world) {
    for (const one of world.all("requirement-assessments")) {
      if (one.compliance_assessment === row.id) world.table("requirement-assessments").delete(one.id);
    }
  },
};

function frameworkOf(framework: Row, view: View): Json {
  return {
    ...(view.ref("frameworks", framework.id) as object),
    ...pick(framework, ["urn", "min_score", "max_score", "ref_id", "implementation_groups_definition"]),
    outcomes_definition: [],
    reference_controls: [],
    has_update: false,
  };
}

interface Group {
  readonly [field: string]: Json;
  readonly ref_id: string;
  readonly name: string;
}

function groupsOf(framework: Row): readonly Group[] {
  return (framework.implementation_groups_definition ?? []) as unknown as readonly Group[];
}

/** The audit's requirements as the framework has them, less those outside the groups it has chosen. */
function requirementsOf(id: string, view: View): Reply {
  const audit = view.world.get("compliance-assessments", id);
  if (audit === undefined || !view.sees("compliance-assessments", audit)) {
    return detail(404, "No ComplianceAssessment matches the given query.");
  }
  const chosen = idsIn(audit, "selected_implementation_groups");
  const answers = new Map<Json | undefined, Row>();
  for (const one of view.world.all("requirement-assessments")) {
    if (one.compliance_assessment === id) answers.set(one.requirement, one);
  }
  const told = ({ id: node }: Row) => {
    const one = answers.get(node);
    return one && { ra_id: one.id, ...pick(one, ["status", "result", "is_scored", "score"]) };
  };
  const covers = (groups: readonly string[]) => chosen.length === 0 || groups.some((one) => chosen.includes(one));
  return ok(treeOf(view.world.get("frameworks", audit.framework)!, view, told, covers));
}

/** The results of an audit by the top of its framework; requirements outside its groups do not count. */
function sectionsOf(id: string, view: View): Reply {
  const tree = requirementsOf(id, view);
  if (tree.status !== 200) return tree;
  const audit = view.world.get("compliance-assessments", id)!;
  const chosen = idsIn(audit, "selected_implementation_groups");
  const leavesOf = (node: Row): Row[] => {
    const below = Object.values((node.children ?? {}) as Record<string, Row>).flatMap(leavesOf);
    const isCovered = chosen.length === 0 || idsIn(node, "implementation_groups").some((one) => chosen.includes(one));
    return node.assessable === true && node.ra_id && isCovered ? [node, ...below] : below;
  };
  const sections = Object.values(tree.json as unknown as Record<string, Row>).flatMap((top) => {
    const leaves = leavesOf(top);
    if (leaves.length === 0) return [];
    const results: Record<string, number> = {};
    for (const { result } of leaves) results[String(result)] = (results[String(result)] ?? 0) + 1;
    const scored = leaves.filter((leaf) => leaf.is_scored === true && leaf.result !== "not_applicable").length;
    const scores = { implementation_score: null, documentation_score: null, maturity_score: null };
    const counts = { total_assessable: leaves.length, results, scored_count: scored, total_weight: scored };
    return [{ ...pick(top, ["ref_id", "name"]), ...scores, ...counts }];
  });
  return ok({ sections, ...pick(audit, ["score_calculation_method", "max_score", "min_score"]) });
}

/** The mean score of what is scored and covered by the audit, cut after a decimal; -1 where nothing is. */
function scoreOf(id: string, view: View): Reply {
  const audit = view.world.get("compliance-assessments", id);
  if (audit === undefined || !reaches(view.world, view.user, "complianceassessment", audit)) {
    return detail(404, "No ComplianceAssessment matches the given query.");
  }
  const chosen = idsIn(audit, "selected_implementation_groups");
  const scores = view.world.all("requirement-assessments").flatMap((one) => {
    if (one.compliance_assessment !== id || one.is_scored !== true || one.score == null) return [];
    const node = view.world.get("requirement-nodes", one.requirement)!;
    const isCovered = chosen.length === 0 || idsIn(node, "implementation_groups").some((g) => chosen.includes(g));
    return node.assessable === true && isCovered && one.result !== "not_applicable" ? [Number(one.score)] : [];
  });
  const mean = scores.length === 0 ? -1 : scores.reduce((sum, one) => sum + one, 0) / scores.length;
  const cut = mean < 0 ? -1 : Math.trunc(mean * 10) / 10;
  return ok({
    implementation_score: cut,
    documentation_score: null,
    maturity_score: cut,
    ...pick(audit, ["max_score", "min_score", "scores_definition", "score_calculation_method", "target_score"]),
    total_max_score: audit.max_score ?? null,
    scoring_enabled: shows(audit, "score"),
    show_documentation_score: false,
    anchor_na_to_target: audit.anchor_na_to_target ?? false,
  });
}

/** Showing scores gives every unscored requirement the lowest one. */
function scoreLowest(audit: Row, world: World): void {
  for (const one of world.all("requirement-assessments")) {
    if (one.compliance_assessment !== audit.id || one.is_scored === true) continue;
    one.is_scored = true;
    one.score = audit.min_score ?? null;
  }
}

/** Opens the assessment of one requirement. */
export function assess(audit: Row, node: Row, world: World, id: string, at: string): Row {
  return world.insert("requirement-assessments", {
    id,
    folder: audit.folder,
    name: node.name === null ? String(node.ref_id) : `${node.ref_id} - ${node.name}`,
    created_at: at,
    updated_at: at,
    compliance_assessment: audit.id,
    requirement: node.id,
    assessable: node.assessable ?? false,
    status: "to_do",
    result: "not_assessed",
    is_scored: false,
    score: null,
    observation: null,
    applied_controls: [],
    evidences: [],
  });
}

/** Perimeters, which audits are of. */
export const perimeters: Kind = {
  path: "perimeters",
  model: "Perimeter",
  codename: "perimeter",
  verbs: [],
  search: ["name", "ref_id", "description"],
  fields: {},
  filters: { folder: BY_FOLDER },
  str: (row, view) => `${view.world.get("folders", row.folder)?.name}/${row.name}`,
  read: (row, view) => ({ ...pick(row, ["id", "name"]), folder: view.ref("folders", row.folder) }),
  written: (row) => pick(row, ["id", "name", "folder"]),
};
