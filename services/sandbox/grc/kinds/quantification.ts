import { detail, ok, type Reply } from "../replies.js";
import { idsIn, type Json, type Row, type World } from "../world.js";
import * as choices from "./choices.js";
import { hypothesisIdOf } from "./hypotheses.js";
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
    hypothesis_id: hypothesisIdOf(row.id, stage),
    hypothesis_name: stage,
  };
}

const told = (row: Row, stage: "current" | "residual") => (simulated(row, stage) === null ? 0 : 1);
const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0);
const shown = (amount: number | undefined) => (amount === undefined ? "" : `${amount} ${CURRENCY}`);
const thresholdOf = (study: Row) => (study.loss_threshold === null ? "" : `${study.loss_threshold} ${CURRENCY}`);

/** What the simulations came to, over every scenario, selected or not. */
function keyMetricsOf(id: string, view: View): Reply {
  return forStudy(id, view, (study, scenarios) => ({
    study_id: study.id,
    study_name: study.name,
    currency: CURRENCY,
    loss_threshold: study.loss_threshold ?? null,
    loss_threshold_display: thresholdOf(study),
    scenarios: scenarios.map((row) => ({
      id: row.id,
      name: row.name,
      current_level: levelOf(row, "current", study.loss_threshold),
      residual_level: levelOf(row, "residual", study.loss_threshold),
      ...(told(row, "residual") > 0 && { treatment_controls: [] }),
    })),
    total_scenarios: scenarios.length,
    scenarios_with_current_data: sumOf(scenarios.map((row) => told(row, "current"))),
    scenarios_with_residual_data: sumOf(scenarios.map((row) => told(row, "residual"))),
    note: "ALE = Annual Loss Expectancy, VaR = Value at Risk at specified percentiles",
  }));
}

/** The same in short, over those selected, with what the treatment costs: of all of them each control once. */
function summaryOf(id: string, view: View): Reply {
  return forStudy(id, view, (study, scenarios) => {
    const selected = scenarios.filter((row) => row.is_selected !== false);
    const cost = sumOf(selected.map((row) => Number(row.treatment_cost ?? 0)));
    return {
      study_id: study.id,
      study_name: study.name,
      study_description: study.description ?? null,
      study_authors: [],
      study_folder: { id: study.folder, name: view.world.get("folders", study.folder)?.name ?? "" },
      // Whoever may read the study is told every name, also of what they may not see.
      study_assets: selected.flatMap((row) => assetsOf(row, view.world)),
      ...empty(["study_threats", "study_qualifications"]),
      currency: CURRENCY,
      risk_tolerance_display: "Not configured",
      loss_threshold: study.loss_threshold ?? null,
      loss_threshold_display: thresholdOf(study),
      scenarios: selected.map((row) => summarized(row, view.world)),
      total_scenarios: selected.length,
      total_selected_scenarios: selected.length,
      total_draft_scenarios: scenarios.filter((row) => row.status === "draft").length,
      study_total_treatment_cost: cost,
      study_total_treatment_cost_display: cost === 0 ? "--" : shown(cost),
      unique_added_controls_count: 0,
      unique_removed_controls_count: 0,
    };
  });
}

const assetsOf = (row: Row, world: World): Json[] =>
  idsIn(row, "assets").map((id) => ({ id, name: world.get("assets", id)?.name ?? "" }));

/** A scenario as the summary has it: with the curve of each simulation, and the cost of a treatment that was simulated. */
function summarized(row: Row, world: World): Json {
  const [current, residual] = [simulated(row, "current")?.ale, simulated(row, "residual")?.ale];
  const saved = current === undefined || residual === undefined ? undefined : current - residual;
  return {
    ...pick(row, ["id", "ref_id", "name", "description", "observation", "status", "priority"]),
    assets: assetsOf(row, world),
    ...empty(["threats", "qualifications", "existing_applied_controls", "additional_controls"]),
    inherent_ale: null,
    inherent_ale_display: "",
    current_ale: current ?? null,
    current_ale_display: shown(current),
    residual_ale: residual ?? null,
    residual_ale_display: shown(residual),
    risk_reduction: saved ?? null,
    risk_reduction_display: saved === undefined ? "Cannot calculate" : shown(saved),
    lec_curves: [...curveOf(row, "current", "Current Risk"), ...curveOf(row, "residual", "Selected Residual Risk")],
    ...(residual !== undefined && {
      treatment_cost: row.treatment_cost ?? 0,
      treatment_cost_display: shown(Number(row.treatment_cost ?? 0)),
    }),
  };
}

/** How probable it is to lose how much, of a simulation that was run. */
function curveOf(row: Row, type: "current" | "residual", name: string): Json[] {
  const found = simulated(row, type);
  if (found === null) return [];
  const { ale, var95, var99, above } = found;
  return [
    {
      name,
      type,
      data: [
        [ale, 0.5],
        [var95, 0.05],
        [var99, 0.01],
      ],
      hypothesis_id: hypothesisIdOf(row.id, type),
      hypothesis_name: type,
      metrics: {
        ...{ mean_annual_loss: ale, var_95: var95, var_99: var99, var_999: var99 },
        ...{ expected_shortfall_99: var99, maximum_credible_loss: var99 * 2, prob_zero_loss: 0.1 },
        ...{ prob_above_10k: 0.9, prob_above_100k: 0.8, prob_above_1M: 0.2, prob_above_threshold: above },
        ...{ loss_with_20_percent: ale * 1.2, loss_with_10_percent: ale * 1.5 },
        ...{ loss_with_5_percent: var95, loss_with_2_5_percent: var95 * 1.2 },
      },
    },
  ];
}
