import { detail, ok, type Reply } from "../replies.js";
import { idsIn, type Json, type Row, type World } from "../world.js";
import * as choices from "./choices.js";
import { BY_FOLDER, empty, type Kind, pick, type View } from "./kind.js";

const STUDY = [
  "id",
  "created_at",
  "updated_at",
  "name",
  "description",
  "ref_id",
  "status",
  "observation",
  "eta",
  "due_date",
];
const CURRENCY = "€";

/** What a simulation came to, kept of a scenario for each stage; null where none was run. */
interface Simulated {
  readonly ale: number;
  readonly var95: number;
  readonly var99: number;
  readonly above: number;
}

const simulated = (row: Row, stage: "current" | "residual") => (row[stage] ?? null) as unknown as Simulated | null;
const decimal = (amount: number | undefined): Json => (amount === undefined ? null : amount.toFixed(2));

/** Studies that price risks. */
export const quantitativeStudies: Kind = {
  path: "crq/quantitative-risk-studies",
  model: "QuantitativeRiskStudy",
  codename: "quantitativeriskstudy",
  verbs: [],
  actions: { "key-metrics": keyMetricsOf, "executive-summary": summaryOf },
  search: ["name", "description", "ref_id"],
  fields: {},
  filters: { folder: BY_FOLDER, status: { kind: "choice", choices: choices.AUDIT_STATUS, of: (row) => row.status } },
  read: (row, view) => ({
    ...pick(row, [...STUDY, "loss_threshold"]),
    folder: view.ref("folders", row.folder),
    ...empty(["authors", "reviewers", "validation_flows"]),
    risk_tolerance: {},
    risk_tolerance_display: "Not configured",
    loss_threshold_display: row.loss_threshold === null ? "" : `${row.loss_threshold} ${CURRENCY}`,
    distribution_model: "lognormal_ci90",
    portfolio_simulation: {},
    is_published: false,
  }),
  written: (row) => pick(row, STUDY),
};

/** Risks that are priced. */
export const quantitativeScenarios: Kind = {
  path: "crq/quantitative-risk-scenarios",
  model: "QuantitativeRiskScenario",
  codename: "quantitativeriskscenario",
  verbs: [],
  search: ["name", "description", "ref_id"],
  fields: {},
  // There is no filter by folder.
  filters: {
    quantitative_risk_study: {
      kind: "related",
      path: "crq/quantitative-risk-studies",
      of: (row) => [row.quantitative_risk_study as string],
    },
    assets: { kind: "related", path: "assets", of: (row) => idsIn(row, "assets") },
    priority: { kind: "exact", of: (row) => row.priority },
  },
  read: (row, view) => ({
    ...pick(row, [
      "id",
      "created_at",
      "updated_at",
      "name",
      "description",
      "ref_id",
      "status",
      "priority",
      "observation",
    ]),
    quantitative_risk_study: view.ref("crq/quantitative-risk-studies", row.quantitative_risk_study),
    assets: view.refs("assets", idsIn(row, "assets")),
    ...empty(["owner", "threats", "vulnerabilities", "qualifications"]),
    folder: view.ref("folders", row.folder),
    current_ale: decimal(simulated(row, "current")?.ale),
    current_ale_display: "",
    residual_ale: decimal(simulated(row, "residual")?.ale),
    residual_ale_display: "",
    is_selected: row.is_selected ?? true,
    is_published: false,
  }),
  written: (row) => pick(row, ["id"]),
};

const scenariosOf = (world: World, study: string) =>
  world.all("crq/quantitative-risk-scenarios").filter((one) => one.quantitative_risk_study === study);

/** Answers for a study that the caller may see. */
function forStudy(id: string, view: View, answer: (study: Row, scenarios: readonly Row[]) => Json): Reply {
  const study = view.world.get("crq/quantitative-risk-studies", id);
  if (study === undefined || !view.sees("crq/quantitative-risk-studies", study)) {
    return detail(404, "No QuantitativeRiskStudy matches the given query.");
  }
  return ok(answer(study, scenariosOf(view.world, id)));
}

function levelOf(row: Row, stage: "current" | "residual", threshold: Json | undefined): Json {
  const found = simulated(row, stage);
  if (found === null) return null;
  return {
    ale: found.ale,
    var_95: found.var95,
    var_99: found.var99,
    var_999: found.var99,
    // Told only where the study says a threshold.
    proba_of_exceeding_threshold: threshold ? found.above : null,
    hypothesis_name: stage,
  };
}

/** What the simulations came to, over every scenario, selected or not. */
function keyMetricsOf(id: string, view: View): Reply {
  return forStudy(id, view, (study, scenarios) => ({
    study_id: study.id,
    study_name: study.name,
    currency: CURRENCY,
    loss_threshold: study.loss_threshold ?? null,
    scenarios: scenarios.map((row) => ({
      id: row.id,
      name: row.name,
      current_level: levelOf(row, "current", study.loss_threshold),
      residual_level: levelOf(row, "residual", study.loss_threshold),
    })),
    total_scenarios: scenarios.length,
  }));
}

/** The same in short, over those selected, with what the treatment costs: of all of them each control once. */
function summaryOf(id: string, view: View): Reply {
  return forStudy(id, view, (study, scenarios) => {
    const selected = scenarios.filter((row) => row.is_selected !== false);
    const costs = selected.map((row) => Number(row.treatment_cost ?? 0));
    return {
      study_id: study.id,
      study_name: study.name,
      currency: CURRENCY,
      loss_threshold: study.loss_threshold ?? null,
      // Whoever may read the study is told every name, also of what they may not see.
      study_assets: selected.flatMap((row) =>
        idsIn(row, "assets").map((asset) => ({ id: asset, name: view.world.get("assets", asset)?.name ?? "" })),
      ),
      scenarios: selected.map((row) => ({
        id: row.id,
        name: row.name,
        current_ale: simulated(row, "current")?.ale ?? null,
        residual_ale: simulated(row, "residual")?.ale ?? null,
        ...(simulated(row, "residual") !== null && { treatment_cost: row.treatment_cost ?? 0 }),
      })),
      study_total_treatment_cost: costs.reduce((sum, one) => sum + one, 0),
    };
  });
}
