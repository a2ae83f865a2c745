import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  GetFinancialSummaryResponseSchema,
  LossSchema,
  ScenarioLossSchema,
} from "#proto/grc/v1/quantification_service_pb.js";
import { given } from "../../lib/fields.js";
import { decimalOf } from "./upstream.js";

interface UpstreamLevel {
  readonly ale?: number | null;
  readonly var_95?: number | null;
  readonly var_99?: number | null;
  readonly proba_of_exceeding_threshold?: number | null;
  readonly hypothesis_id?: string;
}

interface UpstreamLoss {
  readonly id: string;
  readonly name: string;
  readonly current_level: UpstreamLevel | null;
  readonly residual_level: UpstreamLevel | null;
}

/** What the simulations of a study's scenarios came to. */
export interface UpstreamMetrics {
  readonly currency?: string;
  readonly loss_threshold?: number | null;
  readonly scenarios?: readonly UpstreamLoss[];
}

/** The same in short, of the scenarios that the study has selected. */
export interface UpstreamSummary {
  readonly study_total_treatment_cost?: number | null;
  readonly scenarios?: readonly { readonly id?: string; readonly treatment_cost?: number | null }[];
}

/** The dearest of a study. */
const MAX_TOLD = 10;

/** The simulations that a study's figures come from. */
export function simulationsOf({ scenarios = [] }: UpstreamMetrics): string[] {
  return scenarios.flatMap((one) =>
    [one.current_level, one.residual_level].flatMap((level) => level?.hypothesis_id ?? []),
  );
}

/**
 * The figures of a study. The platform itself subtracts the sum of all residual
 * losses from the sum of all current ones, which are of other scenarios: what is
 * saved is added up here over the scenarios that have both.
 *
 * @param stale the simulations whose inputs have changed since; undefined where that is not known.
 */
export function summaryOf(
  metrics: UpstreamMetrics,
  summary: UpstreamSummary,
  stale: ReadonlySet<string> | undefined,
): Omit<MessageInitShape<typeof GetFinancialSummaryResponseSchema>, "$typeName"> {
  const scenarios = metrics.scenarios ?? [];
  const selected = new Set((summary.scenarios ?? []).map(({ id }) => id));
  const saved = scenarios.flatMap((one) => {
    const [before, after] = [amountOf(one.current_level), amountOf(one.residual_level)];
    return before === undefined || after === undefined ? [] : [{ id: one.id, amount: before - after }];
  });
  const savedBySelected = saved.filter(({ id }) => selected.has(id));
  const dearest = scenarios.toSorted((a, b) => (amountOf(b.current_level) ?? -1) - (amountOf(a.current_level) ?? -1));
  const costs = new Map((summary.scenarios ?? []).map((one) => [one.id, decimalOf(one.treatment_cost)]));
  const isTreated = (summary.scenarios ?? []).some(({ treatment_cost }) => decimalOf(treatment_cost) !== undefined);
  const loss = (level: UpstreamLevel | null) => lossOf(level, stale);
  return {
    currency: metrics.currency ?? "",
    ...given({
      currentAnnualLoss: sumOf(scenarios.map((one) => amountOf(one.current_level))),
      residualAnnualLoss: sumOf(scenarios.map((one) => amountOf(one.residual_level))),
      riskReduction: sumOf(saved.map(({ amount }) => amount)),
      selectedRiskReduction: sumOf(savedBySelected.map(({ amount }) => amount)),
      treatmentCost: isTreated ? decimalOf(summary.study_total_treatment_cost) : undefined,
      lossThreshold: metrics.loss_threshold,
      staleCount: stale?.size,
    }),
    scenarioCount: scenarios.length,
    pricedCount: scenarios.filter((one) => amountOf(one.current_level) !== undefined).length,
    comparedCount: saved.length,
    scenarios: dearest.slice(0, MAX_TOLD).map(
      ({ id, name, current_level, residual_level }) =>
        ({
          id,
          name,
          ...given({ current: loss(current_level), residual: loss(residual_level), treatmentCost: costs.get(id) }),
        }) satisfies MessageInitShape<typeof ScenarioLossSchema>,
    ),
  };
}

const amountOf = (level: UpstreamLevel | null) => level?.ale ?? undefined;

/** The sum of those that are known; undefined where none is. */
function sumOf(amounts: readonly (number | undefined)[]): number | undefined {
  const known = amounts.filter((one) => one !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, one) => sum + one, 0);
}

function lossOf(
  level: UpstreamLevel | null,
  stale: ReadonlySet<string> | undefined,
): MessageInitShape<typeof LossSchema> | undefined {
  if (level === null) return undefined;
  return given({
    annualLoss: level.ale,
    loss95: level.var_95,
    loss99: level.var_99,
    aboveThreshold: level.proba_of_exceeding_threshold,
    stale: stale?.has(level.hypothesis_id ?? "") || undefined,
  });
}
