import type { MessageInitShape } from "@bufbuild/protobuf";
import { AssessmentResult } from "#proto/grc/v1/assessment_pb.js";
import type { AssessmentSchema } from "#proto/grc/v1/assessment_service_pb.js";
import { given } from "../../lib/fields.js";
import type { AuditLine } from "./audit-lines.js";

/** How far an audit is and what it came to: its requirements by result, and its score on its scale. */
export function figuresOf(lines: readonly AuditLine[], scoreOfAudit: AuditScore | undefined) {
  const results = new Map<AssessmentResult, number>();
  for (const { result = AssessmentResult.UNSPECIFIED } of lines) results.set(result, (results.get(result) ?? 0) + 1);
  const countOf = (result: AssessmentResult) => results.get(result) ?? 0;
  const applicable = lines.length - countOf(AssessmentResult.NOT_APPLICABLE);
  const isShown = lines.length > 0 && countOf(AssessmentResult.UNSPECIFIED) === 0;
  const { score, minScore, maxScore } = scoreOfAudit ?? {};
  return {
    requirementCount: lines.length,
    results: isShown ? [...results].sort(([a], [b]) => a - b).map(([result, count]) => ({ result, count })) : [],
    ...given({
      compliantPercent:
        isShown && applicable > 0 ? percentOf(countOf(AssessmentResult.COMPLIANT), applicable) : undefined,
      score,
      scorePercent:
        score === undefined || maxScore === minScore ? undefined : percentOf(score - minScore!, maxScore! - minScore!),
      scoredCount: scoreOfAudit && lines.filter((line) => line.score !== undefined).length,
    }),
  } satisfies MessageInitShape<typeof AssessmentSchema>;
}

const percentOf = (part: number, whole: number) => Math.round((part / whole) * 1_000) / 10;

/** The score of an audit on its scale. */
export interface AuditScore {
  readonly score?: number;
  readonly minScore: number;
  readonly maxScore: number;
}
