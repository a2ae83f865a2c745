import { type Json, seededId } from "../world.js";
import type { Choices } from "./choices.js";
import { type Kind, pick } from "./kind.js";

/** Where hypotheses are listed. */
export const HYPOTHESES = "crq/quantitative-risk-hypotheses";

/** What names a hypothesis of a scenario among all. */
export const hypothesisKeyOf = (scenario: string, stage: string) => `${scenario}:${stage}`;

/** The id of the hypothesis of a scenario at a stage. */
export const hypothesisIdOf = (scenario: string, stage: string) =>
  seededId(`${HYPOTHESES}:${hypothesisKeyOf(scenario, stage)}`);

const STAGE: Choices = { inherent: "Inherent", current: "Current", residual: "Residual" };

/** What a simulation goes by, and whether its figures are still those of it. */
export const hypotheses: Kind = {
  path: HYPOTHESES,
  model: "QuantitativeRiskHypothesis",
  codename: "quantitativeriskhypothesis",
  verbs: [],
  search: ["name", "description", "ref_id"],
  fields: {},
  // There is none by freshness, nor by study.
  filters: {
    quantitative_risk_scenario: {
      kind: "related",
      path: "crq/quantitative-risk-scenarios",
      of: (row) => [row.quantitative_risk_scenario as string],
    },
    risk_stage: { kind: "choice", choices: STAGE, of: (row) => row.risk_stage },
    is_selected: { kind: "exact", of: (row) => row.is_selected },
  },
  read: (row, view) => ({
    ...pick(row, ["id", "created_at", "updated_at", "name", "description", "ref_id", "risk_stage", "is_selected"]),
    is_simulation_fresh: row.is_simulation_fresh ?? false,
    quantitative_risk_scenario: view.ref("crq/quantitative-risk-scenarios", row.quantitative_risk_scenario),
    folder: view.ref("folders", row.folder),
    ale: typeof row.ale === "number" ? row.ale.toFixed(2) : (null as Json),
    is_published: false,
  }),
  written: (row) => pick(row, ["id"]),
};
