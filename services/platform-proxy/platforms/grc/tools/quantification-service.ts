import { AssessmentStatus } from "#proto/grc/v1/assessment_pb.js";
import { QuantificationService, QuantifiedStatus } from "#proto/grc/v1/quantification_service_pb.js";
import { unary } from "../../../binding.js";
import { given } from "../../../lib/fields.js";
import { pagingOf } from "../../../lib/pages.js";
import { enumOf, wordOf } from "../../../lib/words.js";
import { ASSETS } from "../asset.js";
import { pageByNumber } from "../by-number.js";
import { type Dated, pageByTime, readWholeByTime } from "../by-time.js";
import { simulationsOf, summaryOf, type UpstreamMetrics, type UpstreamSummary } from "../financial-summary.js";
import { pageOf, readAll } from "../lists.js";
import { readNamedOrAll } from "../named-or-all.js";
import { searchOf } from "../search-words.js";
import { readStale, type UpstreamHypothesis } from "../simulations.js";
import { inTenant, makeSure, readOwned, readShared } from "../tenancy.js";
import { type Decimal, decimalOf, type Related, referenceOf, referencesOf } from "../upstream.js";

interface UpstreamStudy extends Dated {
  readonly ref_id: string | null;
  readonly name: string;
  readonly status: string | null;
  readonly loss_threshold: number | null;
}

interface UpstreamScenario extends Dated {
  readonly ref_id: string | null;
  readonly name: string;
  readonly quantitative_risk_study: Related;
  readonly status: string | null;
  readonly priority: number | null;
  readonly is_selected: boolean;
  readonly assets: readonly Related[];
  readonly current_ale: Decimal;
  readonly residual_ale: Decimal;
}

const STUDIES = "/api/crq/quantitative-risk-studies/";
const SCENARIOS = "/api/crq/quantitative-risk-scenarios/";

/** How the tools of this service are answered. */
export const bindings = [
  unary(QuantificationService.method.listRiskQuantifications, (r, platform) =>
    inTenant(platform, r.tenantId, async (tenant) => {
      const page = pageOf(r, tenant.id);
      const query = { status: r.status && wordOf(AssessmentStatus, r.status), search: searchOf(r.query) };
      const listed = await readWholeByTime<UpstreamStudy>(platform, STUDIES, query, page, tenant);
      return { riskQuantifications: listed.rows.map(studyOf), ...pagingOf(page, listed) };
    }),
  ),

  unary(QuantificationService.method.getFinancialSummary, (r, platform) =>
    inTenant(platform, r.tenantId, async (tenant) => {
      const study = await readOwned<UpstreamStudy>(platform, STUDIES, r.quantificationId, "quantification_id", tenant);
      const read = <T>(action: string) => platform.rest<T>({ verb: "GET", path: `${STUDIES}${study.id}/${action}/` });
      const metrics = await read<UpstreamMetrics>("key-metrics");
      const summary = await read<UpstreamSummary>("executive-summary");
      const stale = await readStale(platform, "id", simulationsOf(metrics), tenant);
      return {
        quantification: { id: study.id, name: study.name },
        ...summaryOf(metrics, summary, stale && new Set(stale.map(({ id }) => id))),
      };
    }),
  ),

  unary(QuantificationService.method.listQuantifiedScenarios, (r, platform) =>
    inTenant(platform, r.tenantId, async (tenant) => {
      const page = pageOf(r, tenant.id);
      // There is no filter by domain: a study lies in one, and so do its scenarios.
      const argument = "quantification_id";
      const studies = await readNamedOrAll<UpstreamStudy>(platform, STUDIES, r.quantificationId, argument, tenant);
      const asset = r.assetId && (await readShared(platform, ASSETS, r.assetId, "asset_id", tenant)).id;
      const queries = studies.map((study) => ({ quantitative_risk_study: study.id, assets: asset || undefined }));
      const all = await readAll<UpstreamScenario>(platform, SCENARIOS, queries, tenant);
      if (all.length === 0) await makeSure(platform, tenant);
      const listed =
        r.costliestFirst === true
          ? pageByNumber(all, (row) => decimalOf(row.current_ale), page)
          : pageByTime(all, "newest", page);
      const simulated = listed.rows.filter(
        ({ current_ale, residual_ale }) => current_ale !== null || residual_ale !== null,
      );
      const ids = simulated.map(({ id }) => id);
      const stale = (await readStale(platform, "quantitative_risk_scenario", ids, tenant)) ?? [];
      const counting = stale.filter((one) => one.risk_stage === "current" || isChosen(one));
      const staleIds = new Set(counting.map((one) => one.quantitative_risk_scenario.id));
      return { ...scenariosOf(listed.rows, staleIds), ...pagingOf(page, listed) };
    }),
  ),
];

function studyOf(upstream: UpstreamStudy) {
  const { id, name, ref_id: refId, loss_threshold: lossThreshold } = upstream;
  const status = enumOf(AssessmentStatus, upstream.status) || undefined;
  return { id, name, ...given({ refId, status, lossThreshold, domain: referenceOf(upstream.folder) }) };
}

/** Whether a hypothesis is of the treatment whose figures count. */
const isChosen = ({ risk_stage, is_selected }: UpstreamHypothesis) => risk_stage === "residual" && is_selected;

/** Priced scenarios as a page of them: what several have in common is said once. */
function scenariosOf(rows: readonly UpstreamScenario[], stale: ReadonlySet<string | undefined>) {
  const assets = new Map(rows.flatMap((row) => referencesOf(row.assets).seen).map((asset) => [asset.id, asset]));
  const studies = new Map(rows.map(({ quantitative_risk_study: study }) => [study.id, referenceOf(study)]));
  const [only] = studies.size === 1 ? studies.values() : [];
  return {
    quantifiedScenarios: rows.map((row) => ({
      ...scenarioOf(row, only === undefined),
      ...(stale.has(row.id) && { stale: true }),
    })),
    ...given({ quantification: only }),
    assets: [...assets.values()],
  };
}

function scenarioOf(upstream: UpstreamScenario, ofSeveral: boolean) {
  const { id, name, ref_id: refId, priority, quantitative_risk_study: study } = upstream;
  const assets = referencesOf(upstream.assets);
  return {
    id,
    name,
    ...given({ refId, priority, status: enumOf(QuantifiedStatus, upstream.status) || undefined }),
    ...(ofSeveral && study.id !== undefined && { quantification: { id: study.id } }),
    selected: upstream.is_selected,
    ...given({
      currentAnnualLoss: decimalOf(upstream.current_ale),
      residualAnnualLoss: decimalOf(upstream.residual_ale),
    }),
    assets: assets.seen.map((asset) => ({ id: asset.id })),
    ...(assets.hidden > 0 && { hiddenLinks: assets.hidden }),
  };
}
