import type { MessageInitShape } from "@bufbuild/protobuf";
import type { SetControlMaturityRequest, SetControlMaturityResponseSchema } from "#proto/grc/v1/control_service_pb.js";
import { failedPrecondition, invalidArgument } from "../../../shared/rpc/errors.js";
import type { Platform } from "../../platform.js";
import { CONTROLS, type UpstreamControl } from "./control.js";
import {
  answeredBy,
  controlMaturityOf,
  REQUIREMENT_ASSESSMENTS,
  scaleOf,
  type UpstreamRequirementAssessment,
} from "./requirement-assessment.js";
import { readOwned, type Tenant, tenantOf } from "./tenancy.js";

const NAMED = 20;

/**
 * Scores the requirement assessment that a control answers: the platform
 * itself has no maturity on a control, and takes such a field without a word.
 */
export async function setControlMaturity(
  r: SetControlMaturityRequest,
  platform: Platform,
): Promise<MessageInitShape<typeof SetControlMaturityResponseSchema>> {
  const tenant = await tenantOf(platform, r.tenantId);
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
  const written = await platform.rest<{ score: number | null; is_scored: boolean }>({ verb: "PATCH", path, body });
  if (written.score !== r.score || !written.is_scored) {
    const note = r.justification === undefined ? "" : "; the justification was written all the same";
    throw failedPrecondition(
      `the platform did not take the score: this requirement is scored by the answers to its questions${note}`,
    );
  }
  const after = await readOwned<UpstreamRequirementAssessment>(
    platform,
    REQUIREMENT_ASSESSMENTS,
    chosen.id,
    "requirement_assessment_id",
    tenant,
  );
  return { maturity: controlMaturityOf(after) };
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
    if (chosen.applied_controls.some(({ id }) => id === control.id)) return chosen;
    throw failedPrecondition("the control does not answer this requirement; link_controls_to_requirement links it");
  }
  const own = await answeredBy(platform, [control.id], tenant);
  if (own.length === 0) {
    throw failedPrecondition(
      "the control answers no requirement that you may see, so there is nothing to score; link_controls_to_requirement links it",
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
