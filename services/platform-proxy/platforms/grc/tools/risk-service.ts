import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type AttackOutcomeSchema,
  type RiskScenarioSchema,
  RiskService,
  RiskTreatmentSchema,
} from "#proto/grc/v1/risk_service_pb.js";
import { unary } from "../../../binding.js";
import type { Platform } from "../../../platform.js";
import { codeOf, enumOf } from "../codes.js";
import { CONTROLS } from "../control.js";
import { type Housed, pageOf, pagingOf, readAllTenantPages, readConcatenated, readTenantPage } from "../pages.js";
import { domainIdsOf, readOwned, type Tenant, tenantOf } from "../tenancy.js";
import { present, type Related, ratingOf, referenceOf, referencesOf, type Step, timeOf } from "../upstream.js";

interface UpstreamScenario extends Housed {
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

interface UpstreamOperationalScenario extends Housed {
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

export const bindings = [
  unary(RiskService.method.listRiskScenarios, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const page = pageOf(r, tenant.id);
    if (r.controlId !== undefined) await readOwned(platform, CONTROLS, r.controlId, "control_id", tenant);
    const query = {
      applied_controls: r.controlId,
      treatment: r.treatments.map((treatment) => codeOf(RiskTreatmentSchema, treatment)),
      current_level: r.currentLevels.map(String),
      search: r.search,
      ordering: "-created_at,id",
    };
    const { count, results } = await scenariosOf(platform, r.riskAssessmentId, query, page, tenant);
    return { riskScenarios: results.map(scenarioOf), ...pagingOf(page, count) };
  }),

  unary(RiskService.method.listAttackOutcomes, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const page = pageOf(r, tenant.id);
    const studies =
      r.studyId === undefined
        ? (await readAllTenantPages<Housed & { id: string }>(platform, STUDIES, {}, tenant)).map(({ id }) => id)
        : [(await readOwned<Housed & { id: string }>(platform, STUDIES, r.studyId, "study_id", tenant)).id];
    // There is no filter by domain; a study lies in one.
    const { count, results } = await readConcatenated<UpstreamOperationalScenario>(
      platform,
      OUTCOMES,
      { ordering: "-created_at,id" },
      { name: "ebios_rm_study", values: studies },
      page,
      tenant,
    );
    return { attackOutcomes: results.map(outcomeOf), ...pagingOf(page, count) };
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

function scenarioOf(upstream: UpstreamScenario): MessageInitShape<typeof RiskScenarioSchema> {
  const assets = referencesOf(upstream.assets);
  const controls = referencesOf(upstream.applied_controls);
  const existing = referencesOf(upstream.existing_applied_controls);
  const rating = (stage: "inherent" | "current" | "residual") =>
    present({
      probability: ratingOf(upstream[`${stage}_proba`]),
      impact: ratingOf(upstream[`${stage}_impact`]),
      level: ratingOf(upstream[`${stage}_level`]),
    });
  return {
    id: upstream.id,
    name: upstream.name,
    ...present({
      refId: upstream.ref_id,
      description: upstream.description,
      riskAssessment: referenceOf(upstream.risk_assessment),
      domain: referenceOf(upstream.folder),
    }),
    treatment: enumOf(RiskTreatmentSchema, upstream.treatment),
    inherent: rating("inherent"),
    current: rating("current"),
    residual: rating("residual"),
    assets: assets.seen,
    controls: controls.seen,
    existingControls: existing.seen,
    hiddenLinks: assets.hidden + controls.hidden + existing.hidden,
    updatedAt: timeOf(upstream.updated_at),
  };
}

function outcomeOf(upstream: UpstreamOperationalScenario): MessageInitShape<typeof AttackOutcomeSchema> {
  return {
    id: upstream.id,
    name: upstream.str,
    method: "ebios-rm",
    ...present({
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
  };
}
