import type { MessageInitShape } from "@bufbuild/protobuf";
import { AssessmentStatus } from "#proto/grc/v1/assessment_pb.js";
import {
  type LossSchema,
  QuantificationService,
  QuantifiedStatus,
  type ScenarioLossSchema,
} from "#proto/grc/v1/quantification_service_pb.js";
import { unary } from "../../../binding.js";
import { given } from "../../../lib/fields.js";
import { pagingOf } from "../../../lib/pages.js";
import { enumOf, wordOf } from "../../../lib/words.js";
import { ASSETS } from "../asset.js";
import { type Dated, pageByTime, readWholeByTime } from "../by-time.js";
import { pageOf, readAll } from "../lists.js";
import { readNamedOrAll } from "../named-or-all.js";
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

interface UpstreamLevel {
  readonly ale?: number | null;
  readonly var_95?: number | null;
  readonly var_99?: number | null;
  readonly proba_of_exceeding_threshold?: number | null;
}

/** What the simulations of a study's scenarios came to. */
interface UpstreamMetrics {
  readonly currency?: string;
  readonly loss_threshold?: number | null;
  readonly scenarios?: readonly {
    readonly id: string;
    readonly name: string;
    readonly current_level: UpstreamLevel | null;
    readonly residual_level: UpstreamLevel | null;
  }[];
}

interface UpstreamSummary {
  readonly study_total_treatment_cost?: number | null;
  readonly scenarios?: readonly { readonly treatment_cost?: number | null }[];
}

const STUDIES = "/api/crq/quantitative-risk-studies/";
const SCENARIOS = "/api/crq/quantitative-risk-scenarios/";
/** The dearest of a study. */
const MAX_TOLD = 10;

/** How the tools of this service are answered. */
export const bindings = [
  unary(QuantificationService.method.listRiskQuantifications, (r, platform) =>
    inTenant(platform, r.tenantId, async (tenant) => {
      const page = pageOf(r, tenant.id);
      const query = { status: r.status && wordOf(AssessmentStatus, r.status), search: r.query };
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
      return { quantification: { id: study.id, name: study.name }, ...summaryOf(metrics, summary) };
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
      const listed = pageByTime(all, "newest", page);
      return { ...scenariosOf(listed.rows), ...pagingOf(page, listed) };
    }),
  ),
];

function studyOf(upstream: UpstreamStudy) {
  const { id, name, ref_id: refId, loss_threshold: lossThreshold } = upstream;
  const status = enumOf(AssessmentStatus, upstream.status) || undefined;
  return { id, name, ...given({ refId, status, lossThreshold, domain: referenceOf(upstream.folder) }) };
}

/** Priced scenarios as a page of them: what several have in common is said once. */
function scenariosOf(rows: readonly UpstreamScenario[]) {
  const assets = new Map(rows.flatMap((row) => referencesOf(row.assets).seen).map((asset) => [asset.id, asset]));
  const studies = new Map(rows.map(({ quantitative_risk_study: study }) => [study.id, referenceOf(study)]));
  const [only] = studies.size === 1 ? studies.values() : [];
  return {
    quantifiedScenarios: rows.map((row) => scenarioOf(row, only === undefined)),
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

/** The figures of a study: sums over the scenarios that are priced, as the platform itself adds them. */
function summaryOf(metrics: UpstreamMetrics, summary: UpstreamSummary) {
  const scenarios = metrics.scenarios ?? [];
  const current = sumOf(scenarios.map((one) => one.current_level?.ale));
  const residual = sumOf(scenarios.map((one) => one.residual_level?.ale));
  const dearest = scenarios.toSorted((a, b) => (b.current_level?.ale ?? -1) - (a.current_level?.ale ?? -1));
  const isTreated = (summary.scenarios ?? []).some(({ treatment_cost }) => decimalOf(treatment_cost) !== undefined);
  return {
    currency: metrics.currency ?? "",
    ...given({
      currentAnnualLoss: current,
      residualAnnualLoss: residual,
      riskReduction: current && residual ? current - residual : undefined,
      treatmentCost: isTreated ? decimalOf(summary.study_total_treatment_cost) : undefined,
      lossThreshold: metrics.loss_threshold,
    }),
    scenarioCount: scenarios.length,
    pricedCount: scenarios.filter((one) => one.current_level !== null).length,
    scenarios: dearest.slice(0, MAX_TOLD).map(
      ({ id, name, current_level, residual_level }) =>
        ({
          id,
          name,
          ...given({ current: lossOf(current_level), residual: lossOf(residual_level) }),
        }) satisfies MessageInitShape<typeof ScenarioLossSchema>,
    ),
  };
}

/** The sum of those that are told; undefined where none is. */
function sumOf(amounts: readonly (number | null | undefined)[]): number | undefined {
  const told = amounts.filter((one) => typeof one === "number");
  return told.length === 0 ? undefined : told.reduce((sum, one) => sum + one, 0);
}

function lossOf(level: UpstreamLevel | null): MessageInitShape<typeof LossSchema> | undefined {
  if (level === null) return undefined;
  return given({
    annualLoss: level.ale,
    loss95: level.var_95,
    loss99: level.var_99,
    aboveThreshold: level.proba_of_exceeding_threshold,
  });
}
