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
import { CONTROLS } from "../control.js";
import { type InFolder, pageOf, readAllTenantPages, readConcatenated, readTenantPage } from "../lists.js";
import { domainIdsOf, readOwned, type Tenant, tenantOf } from "../tenancy.js";
import { type Related, ratingOf, referenceOf, referencesOf, type Step } from "../upstream.js";

interface UpstreamScenario extends InFolder {
  readonly id: string;
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

interface UpstreamOperationalScenario extends InFolder {
  readonly id: string;
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

/** How the tools of this service are answered. */
export const bindings = [
  unary(RiskService.method.listRiskScenarios, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const page = pageOf(r, tenant.id);
    if (r.controlId !== undefined) await readOwned(platform, CONTROLS, r.controlId, "control_id", tenant);
    const query = {
      applied_controls: r.controlId,
      treatment: r.treatments.map((treatment) => wordOf(RiskTreatment, treatment)),
      current_level: r.currentLevels.map(String),
      search: r.query,
      ordering: "-created_at,id",
    };
    const listed = await scenariosOf(platform, r.riskAssessmentId, query, page, tenant);
    return { riskScenarios: listed.rows.map(scenarioRowOf), ...pagingOf(page, listed) };
  }),

  unary(RiskService.method.getRiskScenario, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    return {
      riskScenario: scenarioOf(await readOwned(platform, SCENARIOS, r.riskScenarioId, "risk_scenario_id", tenant)),
    };
  }),

  unary(RiskService.method.listAttackOutcomes, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const page = pageOf(r, tenant.id);
    const studies =
      r.studyId === undefined
        ? (await readAllTenantPages<InFolder & { id: string }>(platform, STUDIES, {}, tenant)).map(({ id }) => id)
        : [(await readOwned<InFolder & { id: string }>(platform, STUDIES, r.studyId, "study_id", tenant)).id];
    // There is no filter by domain; a study lies in one.
    const listed = await readConcatenated<UpstreamOperationalScenario>(
      platform,
      OUTCOMES,
      { ordering: "-created_at,id" },
      { name: "ebios_rm_study", values: studies },
      page,
      tenant,
    );
    return {
      attackOutcomes: listed.rows.map((row) => outcomeRowOf(row, r.studyId !== undefined)),
      ...pagingOf(page, listed),
    };
  }),

  unary(RiskService.method.getAttackOutcome, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    return {
      attackOutcome: outcomeOf(await readOwned(platform, OUTCOMES, r.attackOutcomeId, "attack_outcome_id", tenant)),
    };
  }),
];

async function scenariosOf(
  platform: Platform,
  riskAssessmentId: string | undefined,
  query: Parameters<typeof readTenantPage>[2],
  page: ReturnType<typeof pageOf>,
  tenant: Tenant,
) {
  if (riskAssessmentId !== undefined) {
    await readOwned(platform, "/api/risk-assessments/", riskAssessmentId, "risk_assessment_id", tenant);
    const narrowed = { ...query, risk_assessment: riskAssessmentId };
    return readTenantPage<UpstreamScenario>(platform, SCENARIOS, narrowed, page, tenant);
  }
  // Of several domains this one list takes only the last.
  const domains = { name: "folder", values: domainIdsOf(tenant) };
  return readConcatenated<UpstreamScenario>(platform, SCENARIOS, query, domains, page, tenant);
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
