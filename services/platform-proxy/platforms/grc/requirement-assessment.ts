import type { MessageInitShape } from "@bufbuild/protobuf";
import { AssessmentResult, type MaturitySchema } from "#proto/grc/v1/assessment_pb.js";
import { type RequirementAssessmentSchema, RequirementStatus } from "#proto/grc/v1/assessment_service_pb.js";
import type { ControlMaturitySchema, ScoredRequirementSchema } from "#proto/grc/v1/control_service_pb.js";
import { shorten } from "../../../shared/tools/shorten.js";
import { given } from "../../lib/fields.js";
import { enumOf } from "../../lib/words.js";
import type { Platform } from "../../platform.js";
import type { Dated } from "./by-time.js";
import { readAllOfTenant } from "./lists.js";
import { type Scoped, withinScope } from "./scope.js";
import type { Tenant } from "./tenancy.js";
import { type Level, levelsOf, type Related, referenceOf, referencesOf, type ScoresDefinition } from "./upstream.js";

/** A requirement assessment, as the platform shows it. */
export interface UpstreamRequirementAssessment extends Dated {
  readonly name: string;
  readonly description: string | null;
  readonly assessable: boolean;
  readonly is_locked: boolean;
  /** How far the work on it is; absent where the audit does not show it to the caller. */
  readonly status?: string | null;
  readonly result: string;
  readonly observation: string | null;
  readonly requirement: {
    readonly id: string;
    readonly ref_id: string | null;
    readonly name: string | null;
    readonly description: string | null;
    /** What it is answered by; then its score comes from the answers. */
    readonly questions?: unknown;
  };
  /** By question, empty if it has no answer. Absent if the audit does not show answers to the caller. */
  readonly answers?: Readonly<Record<string, unknown>> | null;
  readonly due_date?: string | null;
  readonly compliance_assessment: Scoped["compliance_assessment"] & {
    readonly min_score: number;
    readonly max_score: number;
    readonly scores_definition: ScoresDefinition;
    /** Who may see and write which field; without a word, everybody may. */
    readonly field_visibility?: Readonly<Record<string, { readonly respondent?: string }>> | null;
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

/** The list of requirement assessments. */
export const REQUIREMENT_ASSESSMENTS = "/api/requirement-assessments/";

/** Every requirement assessment of the tenant that these controls answer and its audit covers; some 8 KB each at the platform. */
export async function answeredBy(
  platform: Platform,
  controlIds: readonly string[],
  tenant: Tenant,
): Promise<UpstreamRequirementAssessment[]> {
  const query = { applied_controls: controlIds };
  const all = await readAllOfTenant<UpstreamRequirementAssessment>(platform, REQUIREMENT_ASSESSMENTS, query, tenant);
  return withinScope(platform, all);
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

/** The score of a requirement assessment, on its scale. */
function maturityOf(
  upstream: UpstreamRequirementAssessment,
): Omit<MessageInitShape<typeof MaturitySchema>, "$typeName"> {
  const { min, max, levels } = scaleOf(upstream);
  const score = upstream.is_scored ? (upstream.score ?? undefined) : undefined;
  return {
    ...given({ score, level: levels.find((level) => level.score === score)?.name }),
    scoreVisible: "score" in upstream,
    minScore: min,
    maxScore: max,
  };
}

/**
 * How mature a control is in the requirement assessments that it answers: one
 * entry an audit and scale, so that neither is said with each requirement.
 */
export function controlMaturityOf(
  answered: readonly UpstreamRequirementAssessment[],
): Omit<MessageInitShape<typeof ControlMaturitySchema>, "$typeName">[] {
  const entries = new Map<string, ReturnType<typeof entryOf>>();
  for (const upstream of answered) {
    const { score, level, ...scale } = maturityOf(upstream);
    const assessment = referenceOf(upstream.compliance_assessment);
    const key = JSON.stringify([assessment?.id, scale]);
    const entry = entries.get(key) ?? entryOf({ ...given({ assessment }), ...scale });
    const { refId, name } = requirementOf(upstream);
    entry.requirements.push({
      id: upstream.id,
      requirement: { id: upstream.requirement.id, ...given({ refId }), name: shorten(name) },
      result: enumOf(AssessmentResult, upstream.result),
      ...given({ score, level }),
    });
    entries.set(key, entry);
  }
  return [...entries.values()];
}

function entryOf<T>(entry: T) {
  const requirements: Omit<MessageInitShape<typeof ScoredRequirementSchema>, "$typeName">[] = [];
  return { ...entry, requirements };
}

/** A requirement assessment as tools show it. */
export function requirementAssessmentOf(upstream: UpstreamRequirementAssessment) {
  const controls = referencesOf(upstream.applied_controls);
  const evidence = referencesOf(upstream.evidences);
  return {
    id: upstream.id,
    requirement: requirementOf(upstream),
    ...given({
      assessment: referenceOf(upstream.compliance_assessment),
      domain: referenceOf(upstream.folder),
      observation: upstream.observation,
      dueDate: upstream.due_date,
    }),
    ...answersOf(upstream),
    result: enumOf(AssessmentResult, upstream.result),
    status: enumOf(RequirementStatus, upstream.status ?? null),
    controls: controls.seen,
    evidence: evidence.seen,
    hiddenLinks: controls.hidden + evidence.hidden,
    assessable: upstream.assessable,
    locked: upstream.is_locked,
    ...(upstream.assessable && { maturity: maturityOf(upstream) }),
  } satisfies MessageInitShape<typeof RequirementAssessmentSchema>;
}

/** Characters of a requirement's text in a row, which names its assessment too where the list is of several. */
const [TEXT_OF_ONE, TEXT_OF_SEVERAL] = [100, 50];

/** A requirement assessment as a row of a list; of one assessment where `ofOne`. */
export function requirementAssessmentRowOf(
  upstream: UpstreamRequirementAssessment,
  ofOne: boolean,
): MessageInitShape<typeof RequirementAssessmentSchema> {
  const { id, requirement, controls, evidence, maturity, ...told } = requirementAssessmentOf(upstream);
  const { compliance_assessment: assessment } = upstream;
  return {
    id,
    requirement: {
      ...given({ refId: requirement.refId }),
      name: shorten(requirement.name, ofOne ? TEXT_OF_ONE : TEXT_OF_SEVERAL),
    },
    ...(!ofOne && assessment.id !== undefined && { assessment: { id: assessment.id } }),
    result: told.result,
    status: told.status,
    ...given({ dueDate: told.dueDate, questionCount: told.questionCount, answeredCount: told.answeredCount }),
    ...(told.hiddenLinks > 0 && { hiddenLinks: told.hiddenLinks }),
    assessable: told.assessable,
    ...(told.locked && { locked: told.locked }),
    ...given({ score: maturity?.score }),
    ...(controls.length > 0 && { controlCount: controls.length }),
    ...(evidence.length > 0 && { evidenceCount: evidence.length }),
  };
}

/** How many questions a requirement asks, and how many of them have an answer. */
function answersOf({ requirement: { questions }, answers }: UpstreamRequirementAssessment): {
  questionCount?: number;
  answeredCount?: number;
} {
  const asked = Object.keys(questions ?? {});
  if (asked.length === 0) return {};
  const isAnswered = (urn: string) => {
    const answer = answers?.[urn];
    return answer !== undefined && answer !== null && answer !== "" && !(Array.isArray(answer) && answer.length === 0);
  };
  return { questionCount: asked.length, ...(answers && { answeredCount: asked.filter(isAnswered).length }) };
}

function requirementOf({ requirement, name }: UpstreamRequirementAssessment) {
  const { id, ref_id: refId, description } = requirement;
  return { id, ...given({ refId }), name: requirement.name || description || name };
}
