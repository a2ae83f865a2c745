import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type AttackOutcomeSchema,
  type RiskScenarioSchema,
  RiskService,
  RiskTreatment,
} from "#proto/grc/v1/risk_service_pb.js";
import { unary } from "../../../binding.js";
import { given } from "../../../lib/fields.js";
import { pagingOf } from "../../../lib/pages.js";
import { timeOf } from "../../../lib/time.js";
import { enumOf, wordOf } from "../../../lib/words.js";
import type { Platform } from "../../../platform.js";
import { type Dated, pageByTime, readByTime } from "../by-time.js";
import { CONTROLS } from "../control.js";
import { type InFolder, pageOf, queriesOf, readAll, readAllOfTenant } from "../lists.js";
import { inTenant, makeSure, readOwned, readShared, type Tenant } from "../tenancy.js";
import { type Related, ratingOf, referenceOf, referencesOf, type Step } from "../upstream.js";

interface UpstreamScenario extends Dated {
  readonly ref_id: string | null;
  readonly name: string;
  readonly description: string | null;
  readonly risk_assessment: Related;
  readonly treatment: string;
  readonly inherent_proba: Step;
  readonly inherent_impact: Step;
  readonly inherent_level: Step;
  readonly current_proba: Step;
  readonly current_impact: Step;
  readonly current_level: Step;
  readonly residual_proba: Step;
  readonly residual_impact: Step;
  readonly residual_level: Step;
  readonly assets: readonly Related[];
  readonly applied_controls: readonly Related[];
  readonly existing_applied_controls: readonly Related[];
  readonly updated_at: string;
}

interface UpstreamOperationalScenario extends Dated {
  readonly str: string;
  readonly ref_id: string | null;
  readonly ebios_rm_study: Related;
  readonly attack_path: Related | null;
  readonly ro_to: { readonly risk_origin?: Related | null; readonly target_objective?: string | null } | null;
  readonly likelihood: Step;
  readonly gravity: Step;
  readonly risk_level: Step;
  readonly operating_modes_description: string | null;
  readonly is_selected: boolean;
}

const SCENARIOS = "/api/risk-scenarios/";
const OUTCOMES = "/api/ebios-rm/operational-scenarios/";
const STUDIES = "/api/ebios-rm/studies/";

/** What of an assessment or a study is looked at. */
type Owner = InFolder & { readonly id: string };

const ASSESSMENTS = "/api/risk-assessments/";

/** How the tools of this service are answered. */
export const bindings = [
  unary(RiskService.method.listRiskScenarios, (r, platform) =>
    inTenant(platform, r.tenantId, async (tenant) => {
      const page = pageOf(r, tenant.id);
      const control =
        r.controlId && (await readShared<Owner>(platform, CONTROLS, r.controlId, "control_id", tenant)).id;
      const query = {
        applied_controls: control || undefined,
        treatment: r.treatments.map((treatment) => wordOf(RiskTreatment, treatment)),
        current_level: r.currentLevels.map(String),
        search: r.query,
      };
      // Its filter by domain is by that of the perimeter, which an assessment need not have.
      const assessments = await ownersOf(platform, ASSESSMENTS, r.riskAssessmentId, "risk_assessment_id", tenant);
      const queries = queriesOf(query, "risk_assessment", assessments);
      const listed = await readByTime<UpstreamScenario>(platform, SCENARIOS, queries, "newest", page, tenant);
      return { riskScenarios: listed.rows.map(scenarioRowOf), ...pagingOf(page, listed) };
    }),
  ),

  unary(RiskService.method.getRiskScenario, (r, platform) =>
    inTenant(platform, r.tenantId, async (tenant) => ({
      riskScenario: scenarioOf(await readShared(platform, SCENARIOS, r.riskScenarioId, "risk_scenario_id", tenant)),
    })),
  ),

  unary(RiskService.method.listAttackOutcomes, (r, platform) =>
    inTenant(platform, r.tenantId, async (tenant) => {
      const page = pageOf(r, tenant.id);
      // There is no filter by domain, nor by time; a study lies in one, and holds few.
      const studies = await ownersOf(platform, STUDIES, r.studyId, "study_id", tenant);
      const queries = studies.map((study) => ({ ebios_rm_study: study }));
      const all = await readAll<UpstreamOperationalScenario>(platform, OUTCOMES, queries, tenant);
      if (all.length === 0) await makeSure(platform, tenant);
      const listed = pageByTime(all, "newest", page);
      return {
        attackOutcomes: listed.rows.map((row) => outcomeRowOf(row, r.studyId !== undefined)),
        ...pagingOf(page, listed),
      };
    }),
  ),

  unary(RiskService.method.getAttackOutcome, (r, platform) =>
    inTenant(platform, r.tenantId, async (tenant) => ({
      attackOutcome: outcomeOf(await readShared(platform, OUTCOMES, r.attackOutcomeId, "attack_outcome_id", tenant)),
    })),
  ),
];

/** The id of the one named, or of all in the tenant. */
async function ownersOf(
  platform: Platform,
  path: string,
  named: string | undefined,
  argument: string,
  tenant: Tenant,
): Promise<string[]> {
  const owners =
    named === undefined
      ? await readAllOfTenant<Owner>(platform, path, {}, tenant)
      : [await readOwned<Owner>(platform, path, named, argument, tenant)];
  return owners.map(({ id }) => id);
}

/** A risk scenario as a row of a list. */
function scenarioRowOf(upstream: UpstreamScenario): MessageInitShape<typeof RiskScenarioSchema> {
  const { id, name, refId, treatment, current, residual, hiddenLinks } = scenarioOf(upstream);
  const level = (rating: { level?: { value: number; name: string } }) => given({ level: rating.level });
  return { id, name, ...given({ refId }), treatment, current: level(current), residual: level(residual), hiddenLinks };
}

function scenarioOf(upstream: UpstreamScenario) {
  const assets = referencesOf(upstream.assets);
  const controls = referencesOf(upstream.applied_controls);
  const existing = referencesOf(upstream.existing_applied_controls);
  const rating = (stage: "inherent" | "current" | "residual") =>
    given({
      probability: ratingOf(upstream[`${stage}_proba`]),
      impact: ratingOf(upstream[`${stage}_impact`]),
      level: ratingOf(upstream[`${stage}_level`]),
    });
  return {
    id: upstream.id,
    name: upstream.name,
    ...given({
      refId: upstream.ref_id,
      description: upstream.description,
      riskAssessment: referenceOf(upstream.risk_assessment),
      domain: referenceOf(upstream.folder),
      updatedAt: timeOf(upstream.updated_at),
    }),
    treatment: enumOf(RiskTreatment, upstream.treatment),
    inherent: rating("inherent"),
    current: rating("current"),
    residual: rating("residual"),
    assets: assets.seen,
    controls: controls.seen,
    existingControls: existing.seen,
    hiddenLinks: assets.hidden + controls.hidden + existing.hidden,
  } satisfies MessageInitShape<typeof RiskScenarioSchema>;
}

/** An attack outcome as a row of a list; of one study where `ofOne`. */
function outcomeRowOf(
  upstream: UpstreamOperationalScenario,
  ofOne: boolean,
): MessageInitShape<typeof AttackOutcomeSchema> {
  const { id, name, refId, study, riskLevel, selected } = outcomeOf(upstream);
  return { id, name, ...given({ refId, riskLevel }), ...(!ofOne && study && { study: { id: study.id } }), selected };
}

function outcomeOf(upstream: UpstreamOperationalScenario) {
  return {
    id: upstream.id,
    name: upstream.str,
    method: "ebios-rm",
    ...given({
      refId: upstream.ref_id,
      study: referenceOf(upstream.ebios_rm_study),
      domain: referenceOf(upstream.folder),
      attackPath: referenceOf(upstream.attack_path),
      riskOrigin: upstream.ro_to?.risk_origin?.str,
      targetObjective: upstream.ro_to?.target_objective,
      operatingMode: upstream.operating_modes_description,
      likelihood: ratingOf(upstream.likelihood),
      gravity: ratingOf(upstream.gravity),
      riskLevel: ratingOf(upstream.risk_level),
    }),
    selected: upstream.is_selected,
  } satisfies MessageInitShape<typeof AttackOutcomeSchema>;
}
