import type { MessageInitShape } from "@bufbuild/protobuf";
import { AssessmentResult } from "#proto/grc/v1/assessment_pb.js";
import type { AssessmentSchema } from "#proto/grc/v1/assessment_service_pb.js";
import { given } from "../../lib/fields.js";
import { enumOf } from "../../lib/words.js";
import type { Platform } from "../../platform.js";
import type { UpstreamWholeAudit } from "./assessment.js";
import { readLines, type ShownOfAudit } from "./audit-lines.js";
import { AUDITS } from "./scope.js";

/** How many requirements an audit assesses, and how. */
export interface AuditCounts {
  readonly all: number;
  /** By result; undefined where the audit hides results from the reader. */
  readonly results: ReadonlyMap<AssessmentResult, number> | undefined;
  /** Undefined where the audit hides scores from the reader. */
  readonly scored: number | undefined;
}

interface UpstreamSections {
  readonly sections: readonly {
    readonly total_assessable: number;
    readonly results: Readonly<Record<string, number>>;
  }[];
}

/**
 * Counts the requirements that an audit covers. The platform counts results by chapter, which takes a tenth of the time
 * of the requirements themselves; it does not count those that have a score and do not apply.
 */
export async function readCounts(
  platform: Platform,
  audit: UpstreamWholeAudit,
  shown: ShownOfAudit,
): Promise<AuditCounts> {
  const results = new Map<AssessmentResult, number>();
  const count = (result: AssessmentResult, more: number) => results.set(result, (results.get(result) ?? 0) + more);
  if (shown.scores) {
    const lines = await readLines(platform, audit, shown);
    for (const { result = AssessmentResult.UNSPECIFIED } of lines) count(result, 1);
    const scored = lines.filter(({ score }) => score !== undefined).length;
    return { all: lines.length, results: shown.results ? results : undefined, scored };
  }
  const path = `${AUDITS}${audit.id}/section_compliance/`;
  const { sections } = await platform.rest<UpstreamSections>({ verb: "GET", path });
  for (const [word, more] of sections.flatMap((section) => Object.entries(section.results))) {
    count(enumOf(AssessmentResult, word), more);
  }
  const all = sections.reduce((sum, section) => sum + section.total_assessable, 0);
  return { all, results: shown.results ? results : undefined, scored: undefined };
}

/** How far an audit is and what it came to: its requirements by result, and its score on its scale. */
export function figuresOf({ all, results, scored }: AuditCounts, scoreOfAudit: AuditScore | undefined) {
  const countOf = (result: AssessmentResult) => results?.get(result) ?? 0;
  const applicable = all - countOf(AssessmentResult.NOT_APPLICABLE);
  const isShown = all > 0 && results !== undefined && countOf(AssessmentResult.UNSPECIFIED) === 0;
  const { score, minScore, maxScore } = scoreOfAudit ?? {};
  return {
    requirementCount: all,
    results: isShown ? [...results].sort(([a], [b]) => a - b).map(([result, count]) => ({ result, count })) : [],
    ...given({
      compliantPercent:
        isShown && applicable > 0 ? percentOf(countOf(AssessmentResult.COMPLIANT), applicable) : undefined,
      score,
      scorePercent:
        score === undefined || maxScore === minScore ? undefined : percentOf(score - minScore!, maxScore! - minScore!),
      scoredCount: scoreOfAudit && scored,
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
