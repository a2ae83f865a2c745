import { sees } from "../rights.js";
import { type Json, type Row, seededId } from "../world.js";
import { BY_FOLDER, type Kind, pick, type View } from "./kind.js";
import { EBIOS_MATRIX, levelOf, stepOf } from "./matrices.js";

/** What the studies here have nothing of. */
const STUDY = {
  reference_entity: { str: "Main", id: seededId("entity:main") },
  ...{ assets: [], compliance_assessments: [], risk_assessments: [], authors: [], reviewers: [], validation_flows: [] },
  ...{ roto_count: 0, selected_roto_count: 0, selected_attack_path_count: 0, applied_control_count: 0 },
  last_risk_assessment: null,
  counters: {
    ...{ selected_asset_count: 0, selected_feared_event_count: 0, compliance_assessment_count: 0, roto_count: 0 },
    ...{ stakeholder_count: 0, strategic_scenario_count: 0, operational_scenario_count: 0 },
    ...{ compliance_applied_control_count: 0, risk_assessment_applied_control_count: 0 },
  },
  ...{ is_published: false, eta: null, due_date: null, version: "1.0", observation: null },
  meta: { workshops: [{ steps: [{ status: "to_do" }] }] },
  quotation_method: "manual",
};

/** EBIOS RM studies. */
export const studies: Kind = {
  path: "ebios-rm/studies",
  model: "EbiosRMStudy",
  codename: "ebiosrmstudy",
  verbs: [],
  search: ["name", "description", "ref_id"],
  fields: {},
  filters: { folder: BY_FOLDER },
  read: (row, view) => ({
    ...pick(row, ["id", "created_at", "updated_at", "name", "description", "ref_id", "status"]),
    ...STUDY,
    str: row.name,
    folder: view.ref("folders", row.folder),
    risk_matrix: view.ref("risk-matrices", seededId("risk-matrices:5x5")),
    operational_scenario_count: view.world
      .all("ebios-rm/operational-scenarios")
      .filter((one) => one.ebios_rm_study === row.id).length,
  }),
  written: (row) => pick(row, ["id", "name"]),
};

/** What is kept of a relation that has no table of its own. */
const named = (relation: Json | undefined) => (relation ?? null) as Json;

/** An attack path, which may be of another study: hidden there, though its parts are told beside it all the same. */
function pathOf(row: Row, { world, user }: View): Json {
  const { folder, ...path } = row.attack_path as { readonly folder: string } & Record<string, Json>;
  return sees(world, user, "attackpath", { ...row, folder }) ? path : {};
}

/** EBIOS RM operational scenarios. */
export const operationalScenarios: Kind = {
  path: "ebios-rm/operational-scenarios",
  model: "OperationalScenario",
  codename: "operationalscenario",
  verbs: [],
  search: [],
  fields: {},
  // There is no filter by folder.
  filters: {
    ebios_rm_study: { kind: "related", path: "ebios-rm/studies", of: (row) => [row.ebios_rm_study as string] },
    likelihood: { kind: "exact", of: (row) => row.likelihood },
  },
  read: (row, view) => ({
    ...pick(row, ["id", "ref_id", "operating_modes_description", "created_at", "updated_at", "is_selected"]),
    str: row.name,
    ebios_rm_study: view.ref("ebios-rm/studies", row.ebios_rm_study),
    folder: view.ref("folders", row.folder),
    attack_path: pathOf(row, view),
    stakeholders: [],
    ro_to: named(row.ro_to),
    threats: [],
    strategic_scenario: named(row.strategic_scenario),
    likelihood: stepOf(EBIOS_MATRIX, "probability", row.likelihood),
    gravity: stepOf(EBIOS_MATRIX, "impact", row.gravity),
    risk_level: stepOf(EBIOS_MATRIX, "risk", levelOf(EBIOS_MATRIX, row.likelihood, row.gravity)),
    operating_modes: [],
    is_published: false,
    justification: "",
  }),
  written: (row) => pick(row, ["id"]),
};
