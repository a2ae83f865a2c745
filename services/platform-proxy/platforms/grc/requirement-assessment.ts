import type { MessageInitShape } from "@bufbuild/protobuf";
import { AssessmentResultSchema, type MaturitySchema } from "#proto/grc/v1/assessment_pb.js";
import type { RequirementAssessmentSchema } from "#proto/grc/v1/assessment_service_pb.js";
import type { Platform } from "../../platform.js";
import { enumOf } from "./codes.js";
import { readAllTenantPages } from "./pages.js";
import type { Tenant } from "./tenancy.js";
import {
  type Level,
  levelsOf,
  present,
  type Related,
  referenceOf,
  referencesOf,
  type ScoresDefinition,
} from "./upstream.js";

/** A requirement assessment, as the platform shows it. */
export interface UpstreamRequirementAssessment {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly folder: Related;
  readonly assessable: boolean;
  readonly is_locked: boolean;
  readonly result: string;
  readonly observation: string | null;
  readonly requirement: {
    readonly ref_id: string | null;
    readonly name: string | null;
    readonly description: string | null;
  };
  readonly compliance_assessment: Related & {
    readonly min_score: number;
    readonly max_score: number;
    readonly scores_definition: ScoresDefinition;
  };
  readonly applied_controls: readonly Related[];
  readonly evidences: readonly Related[];
  readonly effective_min_score: number | null;
  readonly effective_max_score: number | null;
  readonly effective_scores_definition: ScoresDefinition;
  /** Absent, with is_scored, where the audit does not show scores to the caller. */
  readonly score?: number | null;
  readonly is_scored?: boolean;
}

export const REQUIREMENT_ASSESSMENTS = "/api/requirement-assessments/";

/** Every requirement assessment of the tenant that these controls answer; some 8 KB each at the platform. */
export async function answeredBy(
  platform: Platform,
  controlIds: readonly string[],
  tenant: Tenant,
): Promise<UpstreamRequirementAssessment[]> {
  const query = { applied_controls: controlIds };
  return readAllTenantPages<UpstreamRequirementAssessment>(platform, REQUIREMENT_ASSESSMENTS, query, tenant);
}

/** The scale that a requirement is scored on. */
export function scaleOf(upstream: UpstreamRequirementAssessment): {
  min: number;
  max: number;
  levels: readonly Level[];
} {
  const audit = upstream.compliance_assessment;
  return {
    min: upstream.effective_min_score ?? audit.min_score,
    max: upstream.effective_max_score ?? audit.max_score,
    levels: levelsOf(upstream.effective_scores_definition ?? audit.scores_definition),
  };
}

export function maturityOf(upstream: UpstreamRequirementAssessment): MessageInitShape<typeof MaturitySchema> {
  const { min, max, levels } = scaleOf(upstream);
  const score = upstream.is_scored ? (upstream.score ?? undefined) : undefined;
  return {
    requirementAssessmentId: upstream.id,
    requirement: textOf(upstream),
    ...present({
      requirementRefId: upstream.requirement.ref_id,
      assessment: referenceOf(upstream.compliance_assessment),
      level: levels.find((level) => level.score === score)?.name,
    }),
    ...(score !== undefined && { score }),
    scoreVisible: "score" in upstream,
    minScore: min,
    maxScore: max,
    result: enumOf(AssessmentResultSchema, upstream.result),
  };
}

export function requirementAssessmentOf(
  upstream: UpstreamRequirementAssessment,
): MessageInitShape<typeof RequirementAssessmentSchema> {
  const controls = referencesOf(upstream.applied_controls);
  const evidence = referencesOf(upstream.evidences);
  return {
    id: upstream.id,
    requirement: textOf(upstream),
    ...present({
      requirementRefId: upstream.requirement.ref_id,
      assessment: referenceOf(upstream.compliance_assessment),
      domain: referenceOf(upstream.folder),
      observation: upstream.observation,
    }),
    result: enumOf(AssessmentResultSchema, upstream.result),
    controls: controls.seen,
    evidence: evidence.seen,
    hiddenLinks: controls.hidden + evidence.hidden,
    assessable: upstream.assessable,
    locked: upstream.is_locked,
    ...(upstream.assessable && { maturity: maturityOf(upstream) }),
  };
}

function textOf({ requirement, name }: UpstreamRequirementAssessment): string {
  return requirement.name || requirement.description || name;
}
