import { AssessmentResult } from "#proto/grc/v1/assessment_pb.js";
import { enumOf } from "../../lib/words.js";
import type { Platform } from "../../platform.js";
import type { UpstreamWholeAudit } from "./assessment.js";
import { linesIn, readTree } from "./scope.js";
import { mayIn } from "./tenancy.js";

/** A requirement that an audit covers, as its reader may see it. */
export interface AuditLine {
  /** The requirement's id. */
  readonly requirement: string;
  /** The requirement assessment's id. */
  readonly id: string;
  readonly refId: string | undefined;
  readonly name: string;
  /** Undefined where the audit hides results from the reader. */
  readonly result: AssessmentResult | undefined;
  /** Undefined where there is none, or where the audit hides scores from the reader. */
  readonly score: number | undefined;
}

/** What an audit shows to a reader. */
export interface ShownOfAudit {
  readonly results: boolean;
  readonly scores: boolean;
}

/** What an audit shows to the caller. */
export async function shownOf(platform: Platform, audit: UpstreamWholeAudit): Promise<ShownOfAudit> {
  return { results: await shows(platform, audit, "result"), scores: await showsScores(platform, audit) };
}

/** The requirements that an audit covers and assesses, in the order of its framework. */
export async function readLines(
  platform: Platform,
  audit: UpstreamWholeAudit,
  { results, scores }: ShownOfAudit,
): Promise<AuditLine[]> {
  const tree = await readTree(platform, audit);
  return [...linesIn(tree, audit)].flatMap(([requirement, node]) => {
    if (node.assessable !== true) return [];
    const score = node.is_scored === true ? (node.score ?? undefined) : undefined;
    return {
      requirement,
      id: node.ra_id,
      refId: node.ref_id ?? undefined,
      name: node.name || node.description || node.ref_id || "",
      result: results ? enumOf(AssessmentResult, node.result) : undefined,
      score: scores ? score : undefined,
    };
  });
}

/** Whether an audit shows scores to the caller. The platform's tree of requirements has them in any case. */
export async function showsScores(platform: Platform, audit: UpstreamWholeAudit): Promise<boolean> {
  return (await shows(platform, audit, "score")) && (await shows(platform, audit, "is_scored"));
}

/** Whether an audit shows a field of its requirements to the caller. */
export async function shows(platform: Platform, audit: UpstreamWholeAudit, field: string): Promise<boolean> {
  const isAuditor = await mayIn(platform, audit.folder.id ?? "", "view_compliance_assessment_full");
  return audit.field_visibility?.[field]?.[isAuditor ? "auditor" : "respondent"] !== "hidden";
}
