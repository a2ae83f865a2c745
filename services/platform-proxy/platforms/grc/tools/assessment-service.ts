import { AssessmentResult } from "#proto/grc/v1/assessment_pb.js";
import { AssessmentService } from "#proto/grc/v1/assessment_service_pb.js";
import { failedPrecondition } from "../../../../shared/rpc/errors.js";
import { unary } from "../../../binding.js";
import { pagingOf } from "../../../lib/pages.js";
import { wordOf } from "../../../lib/words.js";
import type { Platform } from "../../../platform.js";
import { readByTime } from "../by-time.js";
import { CONTROLS } from "../control.js";
import { pageOf } from "../lists.js";
import {
  REQUIREMENT_ASSESSMENTS,
  requirementAssessmentOf,
  requirementAssessmentRowOf,
  type UpstreamRequirementAssessment,
} from "../requirement-assessment.js";
import { AUDITS, queriesInScope, type UpstreamAudit, withinScope } from "../scope.js";
import { inTenant, readAllOwned, readOwned, readShared, type Tenant } from "../tenancy.js";
import { referencesOf } from "../upstream.js";

/** How the tools of this service are answered. */
export const bindings = [
  unary(AssessmentService.method.listRequirementAssessments, (r, platform) =>
    inTenant(platform, r.tenantId, async (tenant) => {
      const page = pageOf(r, tenant.id);
      // What does not exist, what is hidden and what another tenant owns are answered alike.
      const audit =
        r.assessmentId === undefined
          ? undefined
          : await readOwned<UpstreamAudit>(platform, AUDITS, r.assessmentId, "assessment_id", tenant);
      const control = r.controlId && (await readShared(platform, CONTROLS, r.controlId, "control_id", tenant)).id;
      const query = {
        applied_controls: control || undefined,
        result: r.results.map((result) => wordOf(AssessmentResult, result)),
        ...(r.withHeadings !== true && { requirement__assessable: true }),
        search: r.query,
      };
      const queries = await queriesInScope(platform, query, tenant, audit);
      const listed = await readByTime<UpstreamRequirementAssessment>(
        platform,
        REQUIREMENT_ASSESSMENTS,
        queries,
        "oldest",
        page,
        tenant,
      );
      return {
        requirementAssessments: listed.rows.map((row) => requirementAssessmentRowOf(row, audit !== undefined)),
        ...pagingOf(page, listed),
      };
    }),
  ),

  unary(AssessmentService.method.getRequirementAssessment, (r, platform) =>
    inTenant(platform, r.tenantId, async (tenant) => {
      const read = await readAssessment(platform, r.requirementAssessmentId, tenant);
      const outOfScope = (await withinScope(platform, [read])).length === 0;
      return { requirementAssessment: { ...requirementAssessmentOf(read), ...(outOfScope && { outOfScope }) } };
    }),
  ),

  unary(AssessmentService.method.linkControlsToRequirement, (r, asked) =>
    inTenant(asked, r.tenantId, async (tenant, platform) => {
      const read = () => readAssessment(platform, r.requirementAssessmentId, tenant);
      const before = await read();
      const { hidden } = referencesOf(before.applied_controls);
      if (hidden > 0) {
        throw failedPrecondition(
          `the requirement has ${hidden} controls that you may not see and that the new list would drop; somebody who sees them changes it`,
        );
      }
      const wanted = await readAllOwned(platform, CONTROLS, r.controlIds, "control_ids", tenant);
      const body = { applied_controls: wanted };
      await platform.rest({ verb: "PATCH", path: `${REQUIREMENT_ASSESSMENTS}${before.id}/`, body });
      const after = await read();
      // Fields that are closed to a respondent are dropped, and the answer is that it is done.
      const linked = referencesOf(after.applied_controls).seen.map(({ id }) => id);
      if (linked.length !== wanted.length || linked.some((id) => !wanted.includes(id ?? ""))) {
        throw failedPrecondition(
          "the grc platform did not take the controls: the audit does not let you change them; who manages the audit opens the field to you, or links them",
        );
      }
      return { requirementAssessment: requirementAssessmentOf(after) };
    }),
  ),
];

function readAssessment(platform: Platform, id: string, tenant: Tenant): Promise<UpstreamRequirementAssessment> {
  return readOwned(platform, REQUIREMENT_ASSESSMENTS, id, "requirement_assessment_id", tenant);
}
