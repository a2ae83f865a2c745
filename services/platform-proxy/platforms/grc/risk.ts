import type { MessageInitShape } from "@bufbuild/protobuf";
import { type RiskScenarioSchema, RiskTreatment } from "#proto/grc/v1/risk_service_pb.js";
import { given } from "../../lib/fields.js";
import { timeOf } from "../../lib/time.js";
import { enumOf, wordOf } from "../../lib/words.js";
import type { Platform } from "../../platform.js";
import { ASSETS } from "./asset.js";
import type { Dated } from "./by-time.js";
import { CONTROLS } from "./control.js";
import { chunksOf, type InFolder, queriesOf, readAll, readAllOfTenant } from "./lists.js";
import type { Tenant } from "./tenancy.js";
import {
  OWNERS_OF_A_ROW,
  type Reference,
  type Related,
  ratingOf,
  referenceOf,
  referencesOf,
  type Step,
} from "./upstream.js";
import { emptied, type Replacement } from "./writes.js";

/** A risk scenario as the platform shows it. */
export interface UpstreamScenario extends Dated {
  readonly ref_id: string | null;
  readonly name: string;
  readonly description: string | null;
  readonly justification: string | null;
  readonly risk_assessment: Related & { readonly is_locked?: boolean };
  readonly risk_matrix?: Related | null;
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
  readonly owner?: readonly Related[];
  readonly assets: readonly Related[];
  readonly applied_controls: readonly Related[];
  readonly existing_applied_controls: readonly Related[];
  readonly updated_at: string;
}

/** The list of risk scenarios. */
export const SCENARIOS = "/api/risk-scenarios/";

/** The list of what they belong to. */
export const RISK_ASSESSMENTS = "/api/risk-assessments/";

/** How many assets a row of a list names at most. */
export const ASSETS_OF_A_ROW = 3;

/** When a risk is rated. */
export const STAGES = ["inherent", "current", "residual"] as const;

/** A risk scenario as a row of a list. */
export function scenarioRowOf(upstream: UpstreamScenario): MessageInitShape<typeof RiskScenarioSchema> {
  const { id, name, refId, treatment, current, residual, assets, owners, hiddenLinks } = scenarioOf(upstream);
  const level = (rating: { level?: { value: number; name: string } }) => given({ level: rating.level });
  return {
    ...{ id, name, ...given({ refId }), treatment, current: level(current), residual: level(residual), hiddenLinks },
    assets: assets.slice(0, ASSETS_OF_A_ROW).map((asset) => ({ id: asset.id })),
    ...(assets.length > ASSETS_OF_A_ROW && { assetCount: assets.length }),
    owners: owners.slice(0, OWNERS_OF_A_ROW).map((owner) => ({ id: owner.id })),
  };
}

/** How many scenarios have which level, the highest level first and unrated ones last. */
export function levelCountsOf(scenarios: readonly UpstreamScenario[]) {
  const counts = new Map<string, { level?: { value: number; name: string }; current: number; residual: number }>();
  for (const scenario of scenarios) {
    for (const stage of ["current", "residual"] as const) {
      const level = ratingOf(scenario[`${stage}_level`]);
      // Two matrices may call one level by two names.
      const key = JSON.stringify(level ?? null);
      const count = counts.get(key) ?? { ...given({ level }), current: 0, residual: 0 };
      count[stage]++;
      counts.set(key, count);
    }
  }
  const height = ({ level }: { level?: { value: number } }) => level?.value ?? -1;
  return [...counts.values()].sort((a, b) => height(b) - height(a));
}

/** A risk scenario as tools show it. */
export function scenarioOf(upstream: UpstreamScenario) {
  const assets = referencesOf(upstream.assets);
  const controls = referencesOf(upstream.applied_controls);
  const existing = referencesOf(upstream.existing_applied_controls);
  const owners = referencesOf(upstream.owner);
  const rating = (stage: (typeof STAGES)[number]) =>
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
      justification: upstream.justification,
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
    owners: owners.seen,
    hiddenLinks: assets.hidden + controls.hidden + existing.hidden + owners.hidden,
  } satisfies MessageInitShape<typeof RiskScenarioSchema>;
}

/** What of a risk scenario can be written. */
export interface ScenarioFields {
  readonly name?: string | undefined;
  readonly refId?: string | undefined;
  readonly description?: string | undefined;
  readonly justification?: string | undefined;
  readonly treatment?: RiskTreatment | undefined;
  readonly inherentProbability?: number | undefined;
  readonly inherentImpact?: number | undefined;
  readonly currentProbability?: number | undefined;
  readonly currentImpact?: number | undefined;
  readonly residualProbability?: number | undefined;
  readonly residualImpact?: number | undefined;
  readonly assetIds: readonly string[];
  readonly controlIds: readonly string[];
  readonly existingControlIds: readonly string[];
  readonly clearAssets?: boolean;
  readonly clearControls?: boolean;
  readonly clearExistingControls?: boolean;
}

/** The platform's names and codes for the fields given, but for those that hold ids. */
export function scenarioFieldsOf(r: ScenarioFields): Record<string, unknown> {
  return {
    name: r.name,
    ref_id: r.refId,
    description: emptied(r.description),
    justification: emptied(r.justification),
    treatment: r.treatment === undefined ? undefined : wordOf(RiskTreatment, r.treatment),
    ...Object.fromEntries(
      STAGES.flatMap((stage) => [
        [`${stage}_proba`, r[`${stage}Probability`]],
        [`${stage}_impact`, r[`${stage}Impact`]],
      ]),
    ),
  };
}

/** Those that hold ids. */
export function scenarioListsOf(r: ScenarioFields): readonly Replacement[] {
  return [
    { field: "assets", path: ASSETS, argument: "asset_ids", ids: r.assetIds, clear: r.clearAssets === true },
    {
      field: "applied_controls",
      path: CONTROLS,
      argument: "control_ids",
      ids: r.controlIds,
      clear: r.clearControls === true,
    },
    {
      field: "existing_applied_controls",
      path: CONTROLS,
      argument: "existing_control_ids",
      ids: r.existingControlIds,
      clear: r.clearExistingControls === true,
    },
  ];
}

/** The risk scenarios of a tenant that each of some controls reduces, planned or in place. */
export async function risksByControl(
  platform: Platform,
  controls: readonly string[],
  tenant: Tenant,
): Promise<ReadonlyMap<string, Reference[]>> {
  const byControl = new Map<string, Reference[]>();
  if (controls.length === 0) return byControl;
  // A risk scenario is found by its assessment, and not by its domain.
  const assessments = await readAllOfTenant<InFolder & { readonly id: string }>(platform, RISK_ASSESSMENTS, {}, tenant);
  const ids = assessments.map(({ id }) => id);
  const queries = chunksOf(controls).flatMap((some) => queriesOf({ applied_controls: some }, "risk_assessment", ids));
  for (const { id, name, ...links } of await readAll<UpstreamScenario>(platform, SCENARIOS, queries, tenant)) {
    const reducing = new Set([...links.applied_controls, ...links.existing_applied_controls].map((one) => one.id));
    for (const control of controls.filter((one) => reducing.has(one))) {
      byControl.set(control, [...(byControl.get(control) ?? []), { id, name }]);
    }
  }
  return byControl;
}
