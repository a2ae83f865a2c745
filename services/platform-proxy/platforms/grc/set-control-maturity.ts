import type { MessageInitShape } from "@bufbuild/protobuf";
import type { SetControlMaturityRequest, SetControlMaturityResponseSchema } from "#proto/grc/v1/control_service_pb.js";
import { WriteFailure_Outcome as Outcome } from "#proto/mcp/v1/write_failure_pb.js";
import { failedPrecondition, invalidArgument } from "../../../shared/rpc/errors.js";
import { withOutcomeSaid } from "../../../shared/rpc/write-outcome.js";
import { takingTurns } from "../../lib/taking-turns.js";
import type { Platform } from "../../platform.js";
import { closedTo } from "./closed-fields.js";
import { CONTROLS, type UpstreamControl } from "./control.js";
import { lockedBy } from "./errors.js";
import {
  answeredBy,
  controlMaturityOf,
  REQUIREMENT_ASSESSMENTS,
  scaleOf,
  type UpstreamRequirementAssessment,
} from "./requirement-assessment.js";
import { NOT_COVERED, withinScope } from "./scope.js";
import { readOwned, type Tenant } from "./tenancy.js";

const NAMED = 20;
const JUSTIFICATION_CLOSED = "justification: the audit does not let you change observations";

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
  if (!chosen.assessable)
    throw failedPrecondition("the requirement is a heading and has no score; score the requirements under it");
  if (chosen.is_locked) throw failedPrecondition(lockedBy("audit"));
  const closed = await closedTo(platform, chosen);
  if (closed.includes("score") || (r.justification !== undefined && closed.includes("observation"))) {
    const what = closed.includes("score") ? "score: the audit does not let you score" : JUSTIFICATION_CLOSED;
    throw failedPrecondition(`${what}; nothing was written; ask the audit's manager to open the field to you`);
  }
  const { min, max } = scaleOf(chosen);
  if (r.score! < min || r.score! > max) throw invalidArgument(`score: must be between ${min} and ${max} on this scale`);

  const path = `${REQUIREMENT_ASSESSMENTS}${chosen.id}/`;
  // Without is_scored the score is kept but counts for nothing.
  const body = { score: r.score, is_scored: true, observation: r.justification };
  const patch = () => platform.rest<Written>({ verb: "PATCH", path, body });
  // Which requirement it is was not known before.
  const written = await takingTurns(platform, "object", [chosen.id], patch);
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
      failedPrecondition(
        "the score was written but the justification was not, because the audit does not let you change observations",
      ),
      Outcome.PARTLY,
    );
  }
  const answered = Object.keys((requirement.questions ?? {}) as object).length > 0;
  const why = answered
    ? "the answers to the requirement's questions set its score"
    : "the audit does not let you score; ask its manager to open scores to you";
  const hasNoted = justification !== undefined && isNoted;
  const note = hasNoted ? "; the justification was written" : "";
  throw withOutcomeSaid(
    failedPrecondition(`CISO Assistant did not save the score: ${why}${note}`),
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
      throw failedPrecondition(NOT_COVERED);
    }
    throw failedPrecondition("the control is not linked to this requirement; link it with set_requirement_controls");
  }
  const own = await answeredBy(platform, [control.id], tenant);
  if (own.length === 0) {
    throw failedPrecondition(
      "the control is not linked to any requirement that you may see, so there is nothing to score; link it with set_requirement_controls",
    );
  }
  if (own.length > 1) {
    const names = own.slice(0, NAMED).map((one) => `${one.id} (${one.requirement.ref_id ?? one.name})`);
    const more = own.length > NAMED ? `, and ${own.length - NAMED} more that list_requirement_assessments lists` : "";
    throw invalidArgument(
      `requirement_assessment_id: the control is linked to several requirements; give one of these ids: ${names.join(", ")}${more}`,
    );
  }
  return own[0]!;
}
