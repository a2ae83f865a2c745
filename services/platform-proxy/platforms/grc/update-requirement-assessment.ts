import { AssessmentResult } from "#proto/grc/v1/assessment_pb.js";
import { RequirementStatus, type UpdateRequirementAssessmentRequest } from "#proto/grc/v1/assessment_service_pb.js";
import { WriteFailure_Outcome as Outcome } from "#proto/mcp/v1/write_failure_pb.js";
import { failedPrecondition, invalidArgument } from "../../../shared/rpc/errors.js";
import { withOutcomeSaid } from "../../../shared/rpc/write-outcome.js";
import { wordOf } from "../../lib/words.js";
import type { Platform } from "../../platform.js";
import { closedTo } from "./closed-fields.js";
import { lockedBy } from "./errors.js";
import { REQUIREMENT_ASSESSMENTS, scaleOf, type UpstreamRequirementAssessment } from "./requirement-assessment.js";
import { NOT_COVERED, withinScope } from "./scope.js";
import { readOwned, type Tenant } from "./tenancy.js";
import { emptied } from "./writes.js";

const ARGUMENT = "requirement_assessment_id";

/** What a write of a requirement assessment is answered with: codes. */
interface Answer {
  readonly result?: string | null;
  readonly status?: string | null;
  readonly score?: number | null;
  readonly is_scored?: boolean;
  readonly observation?: string | null;
}

/**
 * Records how a requirement is met.
 *
 * @throws ConnectError failed_precondition for what the audit does not take, naming what was written all the same.
 */
export async function updateRequirementAssessment(
  r: UpdateRequirementAssessmentRequest,
  platform: Platform,
  tenant: Tenant,
): Promise<UpstreamRequirementAssessment> {
  const read = (id: string) =>
    readOwned<UpstreamRequirementAssessment>(platform, REQUIREMENT_ASSESSMENTS, id, ARGUMENT, tenant);
  const before = await read(r.requirementAssessmentId);
  if (!before.assessable)
    throw failedPrecondition("the requirement is a heading and is not assessed; assess the requirements under it");
  if (before.is_locked) {
    throw failedPrecondition(lockedBy("audit"));
  }
  const closed = (await closedTo(platform, before)).filter((name) => r[name as keyof typeof r] !== undefined);
  if (closed.length > 0) {
    throw failedPrecondition(
      `${closed.join(", ")}: the audit does not let you change this; nothing was written; leave it out, or ask the audit's manager to open the field to you`,
    );
  }
  if (r.score !== undefined) {
    const { min, max } = scaleOf(before);
    if (r.score < min || r.score > max) {
      throw invalidArgument(`score: must be between ${min} and ${max} on this scale`);
    }
  }
  if ((await withinScope(platform, [before])).length === 0) {
    throw failedPrecondition(NOT_COVERED);
  }
  const body = {
    result: r.result === undefined ? undefined : wordOf(AssessmentResult, r.result),
    status: r.status === undefined ? undefined : wordOf(RequirementStatus, r.status),
    // Without is_scored a score is kept but counts for nothing.
    ...(r.score !== undefined && { score: r.score, is_scored: true }),
    observation: emptied(r.observation),
  };
  const path = `${REQUIREMENT_ASSESSMENTS}${before.id}/`;
  const answer = await platform.rest<Answer | undefined>({ verb: "PATCH", path, body });
  const dropped = droppedOf(body, answer ?? {});
  if (dropped.length === 0) return read(before.id);
  const taken = Object.keys(body).filter(
    (name) => name !== "is_scored" && body[name as keyof typeof body] !== undefined && !dropped.includes(name),
  );
  const rest = taken.length === 0 ? "nothing was written" : `${taken.join(", ")} changed`;
  const questions = Object.keys((before.requirement.questions ?? {}) as object).length > 0;
  const why = questions
    ? "the answers to the requirement's questions set it"
    : "the audit does not let you change it; ask its manager to open the field to you";
  throw withOutcomeSaid(
    failedPrecondition(`${dropped.join(", ")}: CISO Assistant did not save this: ${why}; ${rest}`),
    taken.length === 0 ? Outcome.UNCHANGED : Outcome.PARTLY,
  );
}

/** What of a body the platform answered otherwise than it was sent: fields that are closed to a respondent, scores that questions give. */
function droppedOf(body: Readonly<Record<string, unknown>>, answer: Answer): string[] {
  return Object.entries(body).flatMap(([name, sent]) => {
    if (sent === undefined || name === "is_scored") return [];
    if (name === "observation") return same(sent, answer.observation) ? [] : [name];
    if (name === "score") return answer.score === sent && answer.is_scored === true ? [] : [name];
    return answer[name as "result" | "status"] === sent ? [] : [name];
  });
}

/** Whether a text is kept as it was sent, but for blanks at its ends. */
const same = (sent: unknown, kept: string | null | undefined) => String(sent ?? "").trim() === (kept ?? "").trim();
