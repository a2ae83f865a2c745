import { AssessmentResult } from "#proto/grc/v1/assessment_pb.js";
import { AssessmentService } from "#proto/grc/v1/assessment_service_pb.js";
import { failedPrecondition } from "../../../../shared/rpc/errors.js";
import { unary } from "../../../binding.js";
import { pagingOf } from "../../../lib/pages.js";
import { wordOf } from "../../../lib/words.js";
import type { Platform } from "../../../platform.js";
import { CONTROLS } from "../control.js";
import { pageOf, readTenantPages } from "../lists.js";
import {
  REQUIREMENT_ASSESSMENTS,
  requirementAssessmentOf,
  requirementAssessmentRowOf,
  type UpstreamRequirementAssessment,
} from "../requirement-assessment.js";
import { domainIdsOf, readAllOwned, readOwned, type Tenant, tenantOf } from "../tenancy.js";
import { referencesOf } from "../upstream.js";

/** How the tools of this service are answered. */
export const bindings = [
  unary(AssessmentService.method.listRequirementAssessments, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const page = pageOf(r, tenant.id);
    // What does not exist, what is hidden and what another tenant owns are answered alike.
    if (r.assessmentId !== undefined) {
      await readOwned(platform, "/api/compliance-assessments/", r.assessmentId, "assessment_id", tenant);
    }
    if (r.controlId !== undefined) await readOwned(platform, CONTROLS, r.controlId, "control_id", tenant);
    const query = {
      compliance_assessment: r.assessmentId,
      applied_controls: r.controlId,
      result: r.results.map((result) => wordOf(AssessmentResult, result)),
      ...(r.withHeadings !== true && { requirement__assessable: true }),
      search: r.query,
    };
    const listed = await readTenantPages<UpstreamRequirementAssessment>(
      platform,
      REQUIREMENT_ASSESSMENTS,
      query,
      domainIdsOf(tenant),
      page,
      tenant,
    );
    const ofOne = r.assessmentId !== undefined;
    return {
      requirementAssessments: listed.rows.map((row) => requirementAssessmentRowOf(row, ofOne)),
      ...pagingOf(page, listed),
    };
  }),

  unary(AssessmentService.method.getRequirementAssessment, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const read = await readAssessment(platform, r.requirementAssessmentId, tenant);
    return { requirementAssessment: requirementAssessmentOf(read) };
  }),

  unary(AssessmentService.method.linkControlsToRequirement, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const read = () => readAssessment(platform, r.requirementAssessmentId, tenant);
    const before = await read();
    const { hidden } = referencesOf(before.applied_controls);
    if (hidden > 0) {
      throw failedPrecondition(
        `the requirement has ${hidden} controls that you may not see and that the new list would drop; somebody who sees them changes it`,
      );
    }
    await readAllOwned(platform, CONTROLS, r.controlIds, "control_ids", tenant);
    const body = { applied_controls: r.controlIds };
    await platform.rest({ verb: "PATCH", path: `${REQUIREMENT_ASSESSMENTS}${before.id}/`, body });
    return { requirementAssessment: requirementAssessmentOf(await read()) };
  }),
];

function readAssessment(platform: Platform, id: string, tenant: Tenant): Promise<UpstreamRequirementAssessment> {
  return readOwned(platform, REQUIREMENT_ASSESSMENTS, id, "requirement_assessment_id", tenant);
}
