import type { MessageInitShape } from "@bufbuild/protobuf";
import type { SetControlMaturityRequest, SetControlMaturityResponseSchema } from "#proto/grc/v1/control_service_pb.js";
import { WriteFailure_Outcome as Outcome } from "#proto/mcp/v1/write_failure_pb.js";
import { failedPrecondition, invalidArgument } from "../../../shared/rpc/errors.js";
import { withOutcomeSaid } from "../../../shared/rpc/write-outcome.js";
import type { Platform } from "../../platform.js";
import { CONTROLS, type UpstreamControl } from "./control.js";
import {
  answeredBy,
  controlMaturityOf,
  REQUIREMENT_ASSESSMENTS,
  scaleOf,
  type UpstreamRequirementAssessment,
} from "./requirement-assessment.js";
import { withinScope } from "./scope.js";
import { readOwned, type Tenant } from "./tenancy.js";

const NAMED = 20;

/**
 * Scores the requirement assessment that a control answers: the platform
 * itself has no maturity on a control, and takes such a field without a word.
 */
export async function setControlMaturity(
  r: SetControlMaturityRequest,
  platform: Platform,
  tenant: Tenant,
): Promise<MessageInitShape<typeof SetControlMaturityResponseSchema>> {
  const control = await readOwned<UpstreamControl>(platform, CONTROLS, r.controlId, "control_id", tenant);
  const chosen = await chosenOf(r, platform, control, tenant);
  if (!chosen.assessable) throw failedPrecondition("the requirement is a heading and is not scored itself");
  if (chosen.is_locked)
    throw failedPrecondition("the audit is locked; it is unlocked on the platform before it can be scored");
  const { min, max } = scaleOf(chosen);
  if (r.score! < min || r.score! > max) throw invalidArgument(`score: must be between ${min} and ${max} on this scale`);

  const path = `${REQUIREMENT_ASSESSMENTS}${chosen.id}/`;
  // Without is_scored the score is kept but counts for nothing.
  const body = { score: r.score, is_scored: true, observation: r.justification };
  const written = await platform.rest<Written>({ verb: "PATCH", path, body });
  const after = await readOwned<UpstreamRequirementAssessment>(
    platform,
    REQUIREMENT_ASSESSMENTS,
    chosen.id,
    "requirement_assessment_id",
    tenant,
  );
  checkTaken(r, written, chosen);
  return { maturity: controlMaturityOf([after])[0]! };
}

/** How a write of a requirement assessment is answered. */
interface Written {
  readonly score: number | null;
  readonly is_scored: boolean;
  readonly observation?: string | null;
}

/** @throws ConnectError failed_precondition, if the platform answered that it wrote all and did not take a part of it. */
function checkTaken(
  { score, justification }: SetControlMaturityRequest,
  written: Written,
  { requirement }: UpstreamRequirementAssessment,
): void {
  const isScored = written.score === score && written.is_scored;
  const isNoted = justification === undefined || (written.observation ?? "").trim() === justification.trim();
  if (isScored && isNoted) return;
  if (isScored) {
    throw withOutcomeSaid(
      failedPrecondition("the score was written, the justification was not: the audit does not let you change remarks"),
      Outcome.PARTLY,
    );
  }
  const answered = Object.keys((requirement.questions ?? {}) as object).length > 0;
  const why = answered
    ? "this requirement is scored by the answers to its questions"
    : "the audit does not let you score; who manages it opens scores to you";
  const hasNoted = justification !== undefined && isNoted;
  const note = hasNoted ? "; the justification was written all the same" : "";
  throw withOutcomeSaid(
    failedPrecondition(`the platform did not take the score: ${why}${note}`),
    hasNoted ? Outcome.PARTLY : Outcome.UNCHANGED,
  );
}

async function chosenOf(
  r: SetControlMaturityRequest,
  platform: Platform,
  control: UpstreamControl,
  tenant: Tenant,
): Promise<UpstreamRequirementAssessment> {
  if (r.requirementAssessmentId !== undefined) {
    const chosen = await readOwned<UpstreamRequirementAssessment>(
      platform,
      REQUIREMENT_ASSESSMENTS,
      r.requirementAssessmentId,
      "requirement_assessment_id",
      tenant,
    );
    if (chosen.applied_controls.some(({ id }) => id === control.id)) {
      if ((await withinScope(platform, [chosen])).length > 0) return chosen;
      throw failedPrecondition(
        "the audit does not cover this requirement, and a score would count for nothing: it lies outside the implementation groups that the audit has chosen",
      );
    }
    throw failedPrecondition("the control does not answer this requirement; set_requirement_controls links it");
  }
  const own = await answeredBy(platform, [control.id], tenant);
  if (own.length === 0) {
    throw failedPrecondition(
      "the control answers no requirement that you may see, so there is nothing to score; set_requirement_controls links it",
    );
  }
  if (own.length > 1) {
    const names = own.slice(0, NAMED).map((one) => `${one.id} (${one.requirement.ref_id ?? one.name})`);
    const more = own.length > NAMED ? `, and ${own.length - NAMED} more that list_requirement_assessments lists` : "";
    throw invalidArgument(
      `requirement_assessment_id: the control answers several requirements, say which: ${names.join(", ")}${more}`,
    );
  }
  return own[0]!;
}
