import { expect } from "vitest";
import type { Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import { idOf, LISTS } from "../seen.js";
import { holdsNothingHidden, personOf, refuses, type Stage, seenBy, tenantOf } from "../stage.js";
import { NOWHERE, STRANGERS, WORKERS } from "./tenants.js";

/** A tool that tells the platform's own figures of an object. */
function figures(
  tool: string,
  argument: string,
  path: string,
  keys: readonly string[],
  same: (told: Row, stage: Stage, person: string, id: string) => Promise<void>,
): Truth<Stage> {
  return {
    tool,
    cases: [
      {
        about: "tells the figures that the platform tells, and refuses those of what it hides",
        as: WORKERS,
        async prove(stage, person) {
          if (!(await personOf(stage, person).tools()).includes(tool)) return;
          const tenant = await tenantOf(stage, person);
          for (const key of keys) {
            const id = stage.world.ids[key]!;
            const args = { tenant_id: tenant.id, [argument]: id };
            const direct = await seenBy(stage, person).read(path, id);
            if (direct === undefined || !tenant.folders.has(idOf(direct.folder) ?? "")) {
              await refuses(stage, person, tool, args);
              continue;
            }
            const { result, text, refusal } = await personOf(stage, person).ask(tool, args);
            expect(refusal).toBe("");
            await same(result as unknown as Row, stage, person, id);
            await holdsNothingHidden(stage, person, text);
          }
        },
      },
      {
        about: "is refused to who has no role or no account",
        as: STRANGERS,
        prove: (stage, person) => refuses(stage, person, tool, { [argument]: stage.world.ids[keys[0]!] }, NOWHERE),
      },
    ],
  };
}

const told = (figure: unknown) => (typeof figure === "number" && figure >= 0 ? figure : undefined);

/** Tools that tell what the platform computes. */
export const figureTruths: readonly Truth<Stage>[] = [
  figures(
    "get_assessment_maturity",
    "assessment_id",
    LISTS.audit,
    ["hidden", "shown", "part", "other", "supplierAudit"],
    async (answer, stage, person, id) => {
      const email = stage.world.emails[person]!;
      const direct = await stage.platform.need(email, "GET", `${LISTS.audit}${id}/global_score/`);
      expect(answer.score).toBe(told(direct.maturity_score));
      expect(answer.implementation_score).toBe(told(direct.implementation_score));
      expect([answer.min_score, answer.max_score]).toEqual([direct.min_score, direct.max_score]);
      expect(answer.scores_visible).toBe(direct.scoring_enabled);
    },
  ),
  figures(
    "get_financial_summary",
    "quantification_id",
    LISTS.loss,
    ["loss", "lossEmpty", "lossOther"],
    async (answer, stage, person, id) => {
      const email = stage.world.emails[person]!;
      const direct = await stage.platform.need(email, "GET", `${LISTS.loss}${id}/combined-ale/`);
      const { current_ale_combined, residual_ale_combined } = direct.combined_metrics;
      expect(answer.current_annual_loss ?? 0).toBe(current_ale_combined);
      expect(answer.residual_annual_loss ?? 0).toBe(residual_ale_combined);
      // Like with like: the platform's own reduction also counts the losses of scenarios that nobody treats.
      const both = (direct.scenarios as Row[]).filter((one) => one.current_ale !== null && one.residual_ale !== null);
      const saved = both.map((one) => Number(one.current_ale) - Number(one.residual_ale));
      expect(answer.compared_count).toBe(both.length);
      expect(answer.risk_reduction ?? 0).toBeCloseTo(
        saved.reduce((sum, one) => sum + one, 0),
        6,
      );
      const hypotheses = await stage.platform.list(email, "/api/crq/quantitative-risk-hypotheses/");
      const scenarios = new Set((direct.scenarios as Row[]).map((one) => one.scenario_id));
      const counting = hypotheses.filter(
        (one) =>
          scenarios.has(idOf(one.quantitative_risk_scenario)) &&
          one.ale !== null &&
          (one.risk_stage === "current" || (one.risk_stage === "residual" && one.is_selected === true)),
      );
      expect(answer.stale_count).toBe(counting.filter((one) => one.is_simulation_fresh === false).length);
      if (id === stage.world.ids.loss) expect(answer.stale_count).toBe(1);
      expect([answer.scenario_count, answer.priced_count]).toEqual([
        direct.total_scenarios,
        direct.scenarios_with_current_ale,
      ]);
      expect(answer.currency).toBe(direct.currency);
    },
  ),
];
