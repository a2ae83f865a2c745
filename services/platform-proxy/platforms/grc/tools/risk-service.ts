import type { MessageInitShape } from "@bufbuild/protobuf";
import { AssessmentStatus } from "#proto/grc/v1/assessment_pb.js";
import {
  type AttackOutcomeSchema,
  type RiskAssessmentSchema,
  RiskService,
  RiskTreatment,
} from "#proto/grc/v1/risk_service_pb.js";
import { unary } from "../../../binding.js";
import { given } from "../../../lib/fields.js";
import { pagingOf } from "../../../lib/pages.js";
import { enumOf, wordOf } from "../../../lib/words.js";
import type { Platform } from "../../../platform.js";
import { type Dated, pageByTime, readByTime, readWholeByTime } from "../by-time.js";
import { CONTROLS } from "../control.js";
import { type InFolder, pageOf, queriesOf, readAll, readAllOfTenant } from "../lists.js";
import {
  SCENARIOS,
  scenarioFieldsOf,
  scenarioListsOf,
  scenarioOf,
  scenarioRowOf,
  type UpstreamScenario,
} from "../risk.js";
import { inTenant, makeSure, readOwned, readShared, type Tenant } from "../tenancy.js";
import { type Related, ratingOf, referenceOf, type Step } from "../upstream.js";
import { change, create, linksOf, remove, replacedIn } from "../writes.js";

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

const OUTCOMES = "/api/ebios-rm/operational-scenarios/";
const STUDIES = "/api/ebios-rm/studies/";

interface UpstreamAssessment extends Dated {
  readonly ref_id: string | null;
  readonly name: string;
  readonly status: string | null;
  readonly version: string | null;
  readonly is_locked: boolean;
  readonly risk_scenarios?: readonly Related[];
  readonly risk_scenarios_count?: number;
}

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

  unary(RiskService.method.listRiskAssessments, (r, platform) =>
    inTenant(platform, r.tenantId, async (tenant) => {
      const page = pageOf(r, tenant.id);
      const query = { status: r.status && wordOf(AssessmentStatus, r.status), search: r.query };
      const listed = await readWholeByTime<UpstreamAssessment>(platform, ASSESSMENTS, query, page, tenant);
      return { riskAssessments: listed.rows.map(assessmentRowOf), ...pagingOf(page, listed) };
    }),
  ),

  unary(RiskService.method.createRiskScenario, (r, asked) =>
    inTenant(asked, r.tenantId, async (tenant, platform) => {
      const argument = "risk_assessment_id";
      const of = await readOwned<Owner>(platform, ASSESSMENTS, r.riskAssessmentId, argument, tenant);
      const links = await linksOf(platform, scenarioListsOf(r), tenant);
      // It lies where its assessment does, whatever is said.
      const body = { ...scenarioFieldsOf(r), ...links, risk_assessment: of.id, folder: of.folder.id };
      const id = await create(platform, SCENARIOS, body);
      return { riskScenario: scenarioOf(await readOwned(platform, SCENARIOS, id, "risk_scenario_id", tenant)) };
    }),
  ),

  unary(RiskService.method.updateRiskScenario, (r, asked) =>
    inTenant(asked, r.tenantId, async (tenant, platform) => {
      const argument = "risk_scenario_id";
      const before = await readOwned<UpstreamScenario>(platform, SCENARIOS, r.riskScenarioId, argument, tenant);
      const links = await replacedIn(platform, before, scenarioListsOf(r), tenant);
      const body = { ...scenarioFieldsOf(r), ...links };
      return {
        riskScenario: scenarioOf(await change<UpstreamScenario>(platform, SCENARIOS, before, argument, body, tenant)),
      };
    }),
  ),

  unary(RiskService.method.deleteRiskScenario, (r, asked) =>
    inTenant(asked, r.tenantId, (tenant, platform) =>
      remove(platform, SCENARIOS, r.riskScenarioId, "risk_scenario_id", tenant),
    ),
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

/** A risk assessment as a row of a list. */
function assessmentRowOf(upstream: UpstreamAssessment): MessageInitShape<typeof RiskAssessmentSchema> {
  const { id, name, ref_id: refId, version, status } = upstream;
  const domain = referenceOf(upstream.folder);
  return {
    id,
    name,
    ...given({ refId, version, domain, status: enumOf(AssessmentStatus, status) || undefined }),
    scenarioCount: upstream.risk_scenarios_count ?? upstream.risk_scenarios?.length ?? 0,
    ...(upstream.is_locked && { locked: true }),
  };
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
