import type { MessageInitShape } from "@bufbuild/protobuf";
import { AssessmentStatus } from "#proto/grc/v1/assessment_pb.js";
import type { RiskAssessmentSchema } from "#proto/grc/v1/risk_assessment_pb.js";
import { type ListRiskScenariosRequest, RiskOrder, RiskService, RiskTreatment } from "#proto/grc/v1/risk_service_pb.js";
import { failedPrecondition } from "../../../../shared/rpc/errors.js";
import { unary } from "../../../binding.js";
import { given } from "../../../lib/fields.js";
import type { Query } from "../../../lib/http.js";
import { type Place, pagingOf } from "../../../lib/pages.js";
import { enumOf, wordOf } from "../../../lib/words.js";
import { writingBack } from "../../../lib/writing-back.js";
import type { Platform } from "../../../platform.js";
import { ASSETS } from "../asset.js";
import { pageByNumber } from "../by-number.js";
import { type Dated, pageByTime, readByTime, readWholeByTime } from "../by-time.js";
import { CONTROLS, isFinished, type UpstreamControl } from "../control.js";
import { lockedBy } from "../errors.js";
import { chunksOf, type InFolder, pageOf, queriesOf, readAll, readPage } from "../lists.js";
import { readNamedOrAll } from "../named-or-all.js";
import { ownerNamed } from "../owners.js";
import {
  RISK_ASSESSMENTS as ASSESSMENTS,
  ASSETS_OF_A_ROW,
  levelCountsOf,
  SCENARIOS,
  scenarioFieldsOf,
  scenarioListsOf,
  scenarioOf,
  scenarioRowOf,
  type UpstreamScenario,
} from "../risk.js";
import { checkRatings } from "../risk-matrix.js";
import { searchOf } from "../search-words.js";
import { inTenant, makeSure, readOwned, readShared, type Tenant } from "../tenancy.js";
import { namedOnce, OWNERS_OF_A_ROW, type Related, ratingOf, referenceOf, referencesOf } from "../upstream.js";
import { change, create, linksOf, remove, replacedIn } from "../writes.js";

interface UpstreamAssessment extends Dated {
  readonly ref_id: string | null;
  readonly name: string;
  readonly status: string | null;
  readonly version: string | null;
  readonly is_locked: boolean;
  readonly risk_scenarios?: readonly Related[];
  readonly risk_scenarios_count?: number;
}

/** What of an assessment is looked at. */
type Owner = InFolder & {
  readonly id: string;
  readonly is_locked?: boolean;
  readonly risk_matrix?: Related | null;
};

/** How the tools of this service are answered. */
export const bindings = [
  unary(RiskService.method.listRiskScenarios, (r, platform) =>
    inTenant(platform, r.tenantId, async (tenant) => {
      const page = pageOf(r, tenant.id);
      const control =
        r.controlId && (await readShared<Owner>(platform, CONTROLS, r.controlId, "control_id", tenant)).id;
      const asset = r.assetId && (await readShared<Owner>(platform, ASSETS, r.assetId, "asset_id", tenant)).id;
      const query = {
        applied_controls: control || undefined,
        assets: asset || undefined,
        owner: await ownerNamed(platform, r.ownerId, tenant),
        treatment: r.treatments.map((treatment) => wordOf(RiskTreatment, treatment)),
        current_level: r.currentLevels.map(String),
        search: searchOf(r.query),
      };
      // Its filter by domain is by that of the perimeter, which an assessment need not have.
      const argument = "risk_assessment_id";
      const assessments = await readNamedOrAll<Owner>(platform, ASSESSMENTS, r.riskAssessmentId, argument, tenant);
      const ids = assessments.map(({ id }) => id);
      const queries = queriesOf(query, "risk_assessment", ids);
      const { listed, levelCounts } = await listScenarios(r, platform, queries, page, tenant);
      const open = r.withOpenControls === true ? await openControlsOf(platform, listed.rows) : undefined;
      return {
        riskScenarios: listed.rows.map((row) => ({
          ...scenarioRowOf(row),
          ...(open && { openControlCount: row.applied_controls.filter(({ id }) => open.has(id ?? "")).length }),
        })),
        owners: namedOnce(listed.rows.flatMap(({ owner }) => referencesOf(owner).seen.slice(0, OWNERS_OF_A_ROW))),
        assets: namedOnce(listed.rows.flatMap(({ assets }) => referencesOf(assets).seen.slice(0, ASSETS_OF_A_ROW))),
        levelCounts,
        ...pagingOf(page, listed),
      };
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
      const query = { status: r.status && wordOf(AssessmentStatus, r.status), search: searchOf(r.query) };
      const listed = await readWholeByTime<UpstreamAssessment>(platform, ASSESSMENTS, query, page, tenant);
      return { riskAssessments: listed.rows.map(assessmentRowOf), ...pagingOf(page, listed) };
    }),
  ),

  unary(RiskService.method.createRiskScenario, (r, asked) =>
    inTenant(asked, r.tenantId, async (tenant, platform) => {
      const argument = "risk_assessment_id";
      const of = await readOwned<Owner>(platform, ASSESSMENTS, r.riskAssessmentId, argument, tenant);
      // The platform refuses changes to the scenarios of a locked one, and takes new ones all the same.
      if (of.is_locked === true) throw failedPrecondition(`${argument}: ${lockedBy("risk assessment")}`);
      await checkRatings(r, of.risk_matrix, platform);
      const links = await linksOf(platform, scenarioListsOf(r), tenant);
      // It lies where its assessment does, whatever is said.
      const body = { ...scenarioFieldsOf(r), ...links, risk_assessment: of.id, folder: of.folder.id };
      const id = await create(platform, SCENARIOS, body);
      return { riskScenario: scenarioOf(await readOwned(platform, SCENARIOS, id, "risk_scenario_id", tenant)) };
    }),
  ),

  writingBack(
    RiskService.method.updateRiskScenario,
    (r) => [r.riskScenarioId],
    (r, asked) =>
      inTenant(asked, r.tenantId, async (tenant, platform) => {
        const argument = "risk_scenario_id";
        const before = await readOwned<UpstreamScenario>(platform, SCENARIOS, r.riskScenarioId, argument, tenant);
        await checkRatings(r, before.risk_matrix, platform);
        const links = await replacedIn(platform, before, scenarioListsOf(r), tenant);
        const body = { ...scenarioFieldsOf(r), ...links };
        return {
          riskScenario: scenarioOf(await change<UpstreamScenario>(platform, SCENARIOS, before, argument, body, tenant)),
        };
      }),
  ),

  unary(RiskService.method.deleteRiskScenario, (r, asked) =>
    inTenant(asked, r.tenantId, async (tenant, platform) => {
      const argument = "risk_scenario_id";
      const of = await readOwned<UpstreamScenario>(platform, SCENARIOS, r.riskScenarioId, argument, tenant);
      // Its pages offer no deletion where the assessment is locked; the platform itself deletes all the same.
      if (of.risk_assessment?.is_locked === true) throw failedPrecondition(lockedBy("risk assessment"));
      return remove(platform, SCENARIOS, of.id, argument, tenant);
    }),
  ),
];

/** The page of scenarios that queries find, and how many have which level where that is asked for. */
async function listScenarios(
  r: ListRiskScenariosRequest,
  platform: Platform,
  queries: readonly Query[],
  page: Place,
  tenant: Tenant,
) {
  const order = r.orderBy ?? RiskOrder.NEWEST;
  if (order === RiskOrder.NEWEST && r.withCounts !== true) {
    const listed = await readByTime<UpstreamScenario>(platform, SCENARIOS, queries, "newest", page, tenant);
    return { listed, levelCounts: [] };
  }
  const all = await readAll<UpstreamScenario>(platform, SCENARIOS, queries, tenant);
  if (all.length === 0) await makeSure(platform, tenant);
  const stage = order === RiskOrder.RESIDUAL_LEVEL ? "residual_level" : "current_level";
  const listed =
    order === RiskOrder.NEWEST
      ? pageByTime(all, "newest", page)
      : pageByNumber(all, (row) => ratingOf(row[stage])?.value, page);
  return { listed, levelCounts: r.withCounts === true ? levelCountsOf(all) : [] };
}

/** The planned controls of scenarios that are not finished. */
async function openControlsOf(
  platform: Platform,
  scenarios: readonly UpstreamScenario[],
): Promise<ReadonlySet<string>> {
  const planned = scenarios.flatMap((one) => referencesOf(one.applied_controls).seen.map(({ id }) => id));
  const queries = chunksOf([...new Set(planned)]).map((some) => ({ id: some.join(",") }));
  const open = new Set<string>();
  for (const query of queries) {
    // Controls that are shared by all tenants count as well.
    const { rows } = await readPage<UpstreamControl>(platform, CONTROLS, query, { size: planned.length, offset: 0 });
    for (const control of rows) if (!isFinished(control)) open.add(control.id);
  }
  return open;
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
