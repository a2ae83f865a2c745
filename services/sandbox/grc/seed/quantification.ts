import { HYPOTHESES, hypothesisKeyOf } from "../kinds/hypotheses.js";
import type { Row } from "../world.js";
import type { Plot, Sower } from "./sower.js";

/** What a year costs now and with treatment, and what that costs; nothing where nobody has run the simulation. */
const PRICED: readonly (readonly [name: string, now: number | null, then: number | null, cost: number])[] = [
  ["Ransomware stops production", 1_250_000, 310_000.5, 90_000],
  ["Customer data is stolen", 480_000, 120_000, 45_000],
  ["Supplier fails", 75_500.25, null, 0],
  ["Fraud by an insider", null, null, 0],
];

/** Seeds a tenant's studies that price risks: one with scenarios in each state, and one that is empty. */
export function seedQuantification(sower: Sower, { key, short, home, asset }: Plot): void {
  const study = (i: number, threshold: number | null) =>
    sower.add("crq/quantitative-risk-studies", `${key}:${i}`, home(i * 2), `${short} losses ${2026 + i}`, {
      ref_id: "",
      status: i === 0 ? "in_progress" : "planned",
      loss_threshold: threshold,
    });
  const first = study(0, 1_000_000);
  study(1, null);
  // Nobody has run a simulation but in the first tenant.
  const priced = PRICED.filter(([, now]) => key === "northwind" || now === null);
  priced.forEach(([name, now, then, cost], i) => {
    const simulated = (ale: number | null) =>
      ale === null ? null : { ale, var95: ale * 2, var99: ale * 3, above: Math.min(0.9, ale / 2_000_000) };
    const scenario = sower.add("crq/quantitative-risk-scenarios", `${key}:0:${i}`, first.folder, `${short} ${name}`, {
      ref_id: `QR.0${i + 1}`,
      quantitative_risk_study: first.id,
      status: now === null ? "draft" : ["mitigate", "open", "accept"][i]!,
      priority: now === null ? null : i + 1,
      is_selected: i !== 3,
      assets: i === 0 && now !== null ? [asset(0), asset(1)] : [],
      current: simulated(now),
      residual: simulated(then),
      treatment_cost: cost,
      observation: null,
    });
    seedHypotheses(sower, scenario, now, then);
  });
}

/** What the figures of a scenario come from: a residual loss of 120,000 is of inputs that were changed since. */
function seedHypotheses(sower: Sower, { id, folder }: Row, now: number | null, then: number | null): void {
  for (const [stage, ale] of [["current", now] as const, ["residual", then] as const]) {
    if (stage === "residual" && ale === null) continue;
    sower.add(HYPOTHESES, hypothesisKeyOf(id, stage), folder, stage === "current" ? "baseline" : "treated", {
      ref_id: "",
      quantitative_risk_scenario: id,
      risk_stage: stage,
      is_selected: true,
      is_simulation_fresh: ale !== null && ale !== 120_000,
      ale,
    });
  }
}
