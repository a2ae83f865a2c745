import type { MessageInitShape } from "@bufbuild/protobuf";
import { AssessmentResult, AssessmentStatus } from "#proto/grc/v1/assessment_pb.js";
import {
  AssessmentService,
  type GetAssessmentMaturityResponseSchema,
  RequirementStatus,
} from "#proto/grc/v1/assessment_service_pb.js";
import { WriteFailure_Outcome as Outcome } from "#proto/mcp/v1/write_failure_pb.js";
import { failedPrecondition } from "../../../../shared/rpc/errors.js";
import { withOutcomeSaid } from "../../../../shared/rpc/write-outcome.js";
import { unary } from "../../../binding.js";
import { given } from "../../../lib/fields.js";
import type { Query } from "../../../lib/http.js";
import { type Place, pagingOf } from "../../../lib/pages.js";
import { wordOf } from "../../../lib/words.js";
import { writingBack } from "../../../lib/writing-back.js";
import type { Platform } from "../../../platform.js";
import {
  auditOf,
  auditRowOf,
  type UpstreamAuditRow,
  type UpstreamScore,
  type UpstreamWholeAudit,
} from "../assessment.js";
import { figuresOf, readCounts } from "../audit-figures.js";
import { shownOf, shows } from "../audit-lines.js";
import { pageByTime, readByTime } from "../by-time.js";
import { closedTo } from "../closed-fields.js";
import { compareAssessments } from "../compare-assessments.js";
import { CONTROLS } from "../control.js";
import { EVIDENCE } from "../evidence.js";
import { FRAMEWORKS, frameworkNamed } from "../framework.js";
import { pageOf, type Rows, readAll, readAllOfTenant } from "../lists.js";
import {
  REQUIREMENT_ASSESSMENTS,
  requirementAssessmentOf,
  requirementAssessmentRowOf,
  type UpstreamRequirementAssessment,
} from "../requirement-assessment.js";
import { AUDITS, isNarrowed, type Narrowed, queriesInScope, type UpstreamAudit, withinScope } from "../scope.js";
import { holds, searchOf } from "../search-words.js";
import { inTenant, makeSure, mayEverywhere, readOwned, readShared, type Tenant } from "../tenancy.js";
import { updateRequirementAssessment } from "../update-requirement-assessment.js";
import { levelsOf } from "../upstream.js";
import { change, notReplaced, type Replacement, replacedIn } from "../writes.js";

/** What a write changes. */
const lineOf = (r: { readonly requirementAssessmentId: string }) => [r.requirementAssessmentId];

/** How the tools of this service are answered. */
export const bindings = [
  unary(AssessmentService.method.listRequirementAssessments, (r, platform) =>
    inTenant(platform, r.tenantId, async (tenant) => {
      const page = pageOf(r, tenant.id);
      // What does not exist, what is hidden and what another tenant owns are answered alike.
      const audit =
        r.assessmentId === undefined
          ? undefined
          : await readOwned<UpstreamWholeAudit>(platform, AUDITS, r.assessmentId, "assessment_id", tenant);
      const control = r.controlId && (await readShared(platform, CONTROLS, r.controlId, "control_id", tenant)).id;
      const evidence = r.evidenceId && (await readShared(platform, EVIDENCE, r.evidenceId, "evidence_id", tenant)).id;
      const statuses = r.statuses.map((status) => wordOf(RequirementStatus, status));
      if (audit !== undefined && statuses.length > 0 && !(await shows(platform, audit, "status"))) {
        throw failedPrecondition("statuses: the audit does not show you the status of the work; leave it out");
      }
      const query = {
        applied_controls: control || undefined,
        evidences: evidence || undefined,
        result: r.results.map((result) => wordOf(AssessmentResult, result)),
        ...(r.withHeadings !== true && { requirement__assessable: true }),
      };
      const listed = await readRequirementAssessments(
        platform,
        query,
        tenant,
        audit,
        { words: r.query, statuses },
        page,
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
      const closedArguments = await closedTo(platform, read);
      const told = { ...requirementAssessmentOf(read), closedArguments };
      return { requirementAssessment: { ...told, ...(outOfScope && { outOfScope }) } };
    }),
  ),

  writingBack(AssessmentService.method.setRequirementControls, lineOf, (r, asked) =>
    inTenant(asked, r.tenantId, (tenant, platform) =>
      link(platform, tenant, r.requirementAssessmentId, {
        field: "applied_controls",
        path: CONTROLS,
        argument: "control_ids",
        ids: r.controlIds,
        clear: r.clearControls,
      }),
    ),
  ),

  writingBack(AssessmentService.method.setRequirementEvidence, lineOf, (r, asked) =>
    inTenant(asked, r.tenantId, (tenant, platform) =>
      link(platform, tenant, r.requirementAssessmentId, {
        field: "evidences",
        path: EVIDENCE,
        argument: "evidence_ids",
        ids: r.evidenceIds,
        clear: r.clearEvidences,
      }),
    ),
  ),

  writingBack(AssessmentService.method.updateRequirementAssessment, lineOf, (r, asked) =>
    inTenant(asked, r.tenantId, async (tenant, platform) => ({
      requirementAssessment: requirementAssessmentOf(await updateRequirementAssessment(r, platform, tenant)),
    })),
  ),

  unary(AssessmentService.method.listAssessments, (r, platform) =>
    inTenant(platform, r.tenantId, async (tenant) => {
      const page = pageOf(r, tenant.id);
      const framework =
        r.frameworkId && (await readShared(platform, FRAMEWORKS, r.frameworkId, "framework_id", tenant)).id;
      const status = r.status && wordOf(AssessmentStatus, r.status);
      const query = { framework: framework || undefined, status, search: searchOf(r.query) };
      const all = await readAllOfTenant<UpstreamAuditRow>(platform, AUDITS, query, tenant);
      if (all.length === 0) await makeSure(platform, tenant);
      // The platform finds audits by the name of their framework, also for those who may not see the framework.
      const isMeant = ({ name, description, ref_id, framework: of }: UpstreamAuditRow) =>
        r.query === undefined || holds(r.query, [name, description, ref_id, of?.str]);
      const listed = pageByTime(all.filter(isMeant), "newest", page);
      return { assessments: listed.rows.map((row) => auditRowOf(row, tenant)), ...pagingOf(page, listed) };
    }),
  ),

  unary(AssessmentService.method.getAssessment, (r, platform) =>
    inTenant(platform, r.tenantId, async (tenant) => {
      const audit = await readOwned<UpstreamWholeAudit>(platform, AUDITS, r.assessmentId, "assessment_id", tenant);
      const framework = await frameworkNamed(audit.framework, platform);
      const shown = await shownOf(platform, audit);
      const score = shown.scores ? maturityOf(await readScore(platform, audit)) : undefined;
      const counts = await readCounts(platform, audit, shown);
      return { assessment: { ...auditOf(audit, framework, tenant), ...figuresOf(counts, score) } };
    }),
  ),

  unary(AssessmentService.method.getAssessmentMaturity, (r, platform) =>
    inTenant(platform, r.tenantId, async (tenant) => {
      const audit = await readOwned<UpstreamWholeAudit>(platform, AUDITS, r.assessmentId, "assessment_id", tenant);
      return { assessment: { id: audit.id, name: audit.name }, ...maturityOf(await readScore(platform, audit)) };
    }),
  ),

  unary(AssessmentService.method.listAssessmentDifferences, (r, platform) =>
    inTenant(platform, r.tenantId, (tenant) => compareAssessments(r, platform, tenant)),
  ),
];

/** The page of requirement assessments that a query finds, narrowed by words of their requirements and by status. */
async function readRequirementAssessments(
  platform: Platform,
  query: Query,
  tenant: Tenant,
  audit: UpstreamAudit | undefined,
  narrowed: Narrowed,
  page: Place,
): Promise<Rows<UpstreamRequirementAssessment>> {
  if (!isNarrowed(narrowed) || (await mayEverywhere(platform, tenant, "view_complianceassessment"))) {
    const queries = await queriesInScope(platform, query, tenant, audit, narrowed);
    return readByTime(platform, REQUIREMENT_ASSESSMENTS, queries, "oldest", page, tenant);
  }
  // Who may see them without their audits has few: they are read whole.
  const { words, statuses } = narrowed;
  const searched = { ...query, search: searchOf(words) };
  const queries = await queriesInScope(platform, searched, tenant, audit, { statuses: [] });
  const all = await readAll<UpstreamRequirementAssessment>(platform, REQUIREMENT_ASSESSMENTS, queries, tenant);
  if (all.length === 0) await makeSure(platform, tenant);
  const isMeant = ({ requirement: { ref_id, name, description }, status }: UpstreamRequirementAssessment) =>
    (words === undefined || holds(words, [ref_id, name, description])) &&
    (statuses.length === 0 || statuses.includes(status ?? ""));
  return pageByTime(all.filter(isMeant), "oldest", page);
}

function readScore(platform: Platform, audit: UpstreamWholeAudit): Promise<UpstreamScore> {
  return platform.rest<UpstreamScore>({ verb: "GET", path: `${AUDITS}${audit.id}/global_score/` });
}

/** The score of an audit on its scale; -1 of the platform is none. */
function maturityOf(said: UpstreamScore) {
  const scored = (score: number | null | undefined) =>
    score === undefined || score === null || score < 0 ? undefined : score;
  const score = scored(said.maturity_score);
  const reached = levelsOf(said.scores_definition).filter((level) => score !== undefined && level.score <= score);
  return {
    ...given({
      score,
      level: reached.toSorted((a, b) => b.score - a.score)[0]?.name,
      implementationScore: scored(said.implementation_score),
      documentationScore: scored(said.documentation_score),
      targetScore: scored(said.target_score),
    }),
    minScore: said.min_score,
    maxScore: said.score_calculation_method === "sum" ? (said.total_max_score ?? said.max_score) : said.max_score,
    scoresVisible: said.scoring_enabled === true,
  } satisfies MessageInitShape<typeof GetAssessmentMaturityResponseSchema>;
}

/** Sets what answers or proves a requirement. */
async function link(platform: Platform, tenant: Tenant, id: string, list: Replacement) {
  const before = await readAssessment(platform, id, tenant);
  const wanted = await replacedIn(platform, before, [list], tenant);
  const argument = "requirement_assessment_id";
  const after = await change<UpstreamRequirementAssessment>(
    platform,
    REQUIREMENT_ASSESSMENTS,
    before,
    argument,
    wanted,
    tenant,
  );
  // Fields that are closed to a respondent are dropped, and the answer is that it is done.
  if (notReplaced(after, wanted, [list]).length > 0) {
    throw withOutcomeSaid(
      failedPrecondition(
        `${list.argument}: CISO Assistant did not save them because the audit does not let you change this field; ask the audit's manager to open the field to you or to link them`,
      ),
      Outcome.UNCHANGED,
    );
  }
  return { requirementAssessment: requirementAssessmentOf(after) };
}

function readAssessment(platform: Platform, id: string, tenant: Tenant): Promise<UpstreamRequirementAssessment> {
  return readOwned(platform, REQUIREMENT_ASSESSMENTS, id, "requirement_assessment_id", tenant);
}
