import type { MessageInitShape } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import {
  type EvidenceSchema,
  EvidenceService,
  EvidenceStatus,
  type UpdateEvidenceRequest,
} from "#proto/grc/v1/evidence_service_pb.js";
import { failedPrecondition, permissionDenied } from "../../../../shared/rpc/errors.js";
import { unary } from "../../../binding.js";
import { objectOf, rowsOf } from "../../../lib/answers.js";
import { given } from "../../../lib/fields.js";
import { pagingOf } from "../../../lib/pages.js";
import { timeOf } from "../../../lib/time.js";
import { enumOf, wordOf } from "../../../lib/words.js";
import type { Platform } from "../../../platform.js";
import { type Dated, readByTime } from "../by-time.js";
import { CONTROLS } from "../control.js";
import { pageOf, queriesOf } from "../lists.js";
import { REQUIREMENT_ASSESSMENTS } from "../requirement-assessment.js";
import {
  domainIdsOf,
  domainOf,
  inTenant,
  mayIn,
  readAllOwned,
  readOwned,
  readShared,
  type Tenant,
} from "../tenancy.js";
import { fileNameOf, type Related, referenceOf, referencesOf } from "../upstream.js";

interface UpstreamEvidence extends Dated {
  readonly name: string;
  readonly description: string | null;
  readonly status: string | null;
  readonly link: string | null;
  readonly attachment: string | null;
  readonly size: string | null;
  readonly expiry_date: string | null;
  readonly applied_controls: readonly Related[];
  readonly requirement_assessments: readonly Related[];
  readonly updated_at: string;
}

const EVIDENCE = "/api/evidences/";

const REVISIONS = "/api/evidence-revisions/";

/** How the tools of this service are answered. */
export const bindings = [
  unary(EvidenceService.method.listEvidence, (r, platform) =>
    inTenant(platform, r.tenantId, async (tenant) => {
      const page = pageOf(r, tenant.id);
      const control = r.controlId && (await readShared(platform, CONTROLS, r.controlId, "control_id", tenant)).id;
      const query = {
        status: r.statuses.map((status) => wordOf(EvidenceStatus, status)),
        applied_controls: control || undefined,
        search: r.query,
      };
      const queries = queriesOf(query, "folder", domainIdsOf(tenant));
      const listed = await readByTime<UpstreamEvidence>(platform, EVIDENCE, queries, "newest", page, tenant);
      return { evidence: listed.rows.map(evidenceRowOf), ...pagingOf(page, listed) };
    }),
  ),

  unary(EvidenceService.method.getEvidence, (r, platform) =>
    inTenant(platform, r.tenantId, async (tenant) => ({
      evidence: await evidenceFor(
        platform,
        await readShared<UpstreamEvidence>(platform, EVIDENCE, r.evidenceId, "evidence_id", tenant),
      ),
    })),
  ),

  unary(EvidenceService.method.createEvidence, (r, asked) =>
    inTenant(asked, r.tenantId, async (tenant, platform) => {
      const folder = domainOf(tenant, r.domainId);
      const controls = await readAllOwned(platform, CONTROLS, r.controlIds, "control_ids", tenant);
      const { name, description, link, expiryDate } = r;
      const body = { name, folder, description, link, expiry_date: expiryDate, applied_controls: controls };
      const written = await platform.rest({ verb: "POST", path: EVIDENCE, body });
      const { id } = objectOf<{ id: string }>(platform.server, written, "id");
      return { evidence: await readEvidence(platform, id, tenant) };
    }),
  ),

  unary(EvidenceService.method.updateEvidence, (r, asked) =>
    inTenant(asked, r.tenantId, (tenant, platform) => updateEvidence(r, platform, tenant)),
  ),
];

async function updateEvidence(r: UpdateEvidenceRequest, platform: Platform, tenant: Tenant) {
  const before = await readOwned<UpstreamEvidence>(platform, EVIDENCE, r.evidenceId, "evidence_id", tenant);
  const patch = (body: Record<string, unknown>) =>
    platform.rest({ verb: "PATCH", path: `${EVIDENCE}${before.id}/`, body });
  const { link } = r;
  // The platform puts the evidence back to review even where it then refuses the version.
  if (link !== undefined && !(await mayIn(platform, before.folder.id!, "add_evidencerevision"))) {
    throw permissionDenied("link: you may not add versions of this evidence; ask the grc platform's administrator");
  }
  const status = r.status === undefined ? undefined : wordOf(EvidenceStatus, r.status);
  const fields = {
    name: r.name,
    description: r.description === "" ? null : r.description,
    expiry_date: r.expiryDate === "" ? null : r.expiryDate,
    ...(link === undefined && { status }),
  };
  // First, and also where nothing else changes: nothing is touched where the caller may
  // not change this evidence. A link written here is looked at, and changes nothing.
  await patch({ ...fields, link });
  if (link !== undefined) {
    const body = { evidence: before.id, folder: before.folder.id, link, observation: r.versionNote };
    const hasChanged = Object.values(fields).some((value) => value !== undefined);
    await platform.rest({ verb: "POST", path: REVISIONS, body }).catch((error: unknown) => {
      throw hasChanged ? halfDone(error) : error;
    });
    if (status !== undefined) await patch({ status });
  }
  const after = await readOwned<UpstreamEvidence>(platform, EVIDENCE, before.id, "evidence_id", tenant);
  // Fields that are closed to a respondent are dropped, and the answer is that it is done.
  if (r.status !== undefined && enumOf(EvidenceStatus, after.status) !== r.status) {
    const rest = link !== undefined || Object.values({ ...fields, status: undefined }).some((one) => one !== undefined);
    throw failedPrecondition(
      `status: the grc platform did not take it; who answers an audit does not judge evidence${rest ? ", the rest was written" : ""}`,
    );
  }
  return { evidence: await evidenceFor(platform, after) };
}

/** A version was refused after the other fields were written. */
function halfDone(error: unknown): unknown {
  if (!(error instanceof ConnectError)) return error;
  return new ConnectError(
    `${error.rawMessage}; the other fields were changed, the new version was not made as far as is known`,
    error.code,
    undefined,
    undefined,
    error.cause,
  );
}

async function readEvidence(platform: Platform, id: string, tenant: Tenant) {
  return evidenceFor(platform, await readOwned<UpstreamEvidence>(platform, EVIDENCE, id, "evidence_id", tenant));
}

/** Evidence as its reader may see it: it names requirement assessments that the list hides from a respondent. */
async function evidenceFor(platform: Platform, upstream: UpstreamEvidence) {
  const told = upstream.requirement_assessments;
  if (told.length === 0 || (await mayIn(platform, upstream.folder.id!, "view_compliance_assessment_full"))) {
    return evidenceOf(upstream);
  }
  const query = { evidences: upstream.id, limit: MAX_LINKS };
  const answer = await platform.rest<{ results?: unknown } | undefined>({
    verb: "GET",
    path: REQUIREMENT_ASSESSMENTS,
    query,
  });
  const seen = new Set(rowsOf<{ id: string }>(platform.server, answer?.results, "id").map(({ id }) => id));
  return evidenceOf({
    ...upstream,
    requirement_assessments: told.map((one) => (one.id !== undefined && seen.has(one.id) ? one : {})),
  });
}

const MAX_LINKS = 250;

/** A piece of evidence as a row of a list. */
function evidenceRowOf(upstream: UpstreamEvidence): MessageInitShape<typeof EvidenceSchema> {
  const { id, name, fileName, expiryDate, status, controls, requirementAssessments, hiddenLinks, createdAt } =
    evidenceOf(upstream);
  return {
    id,
    name,
    ...given({ fileName, expiryDate, createdAt }),
    status,
    hiddenLinks,
    ...(controls.length > 0 && { controlCount: controls.length }),
    ...(requirementAssessments.length > 0 && { requirementAssessmentCount: requirementAssessments.length }),
  };
}

function evidenceOf(upstream: UpstreamEvidence) {
  const controls = referencesOf(upstream.applied_controls);
  const requirements = referencesOf(upstream.requirement_assessments);
  return {
    id: upstream.id,
    name: upstream.name,
    ...given({
      description: upstream.description,
      link: upstream.link,
      fileName: fileNameOf(upstream.attachment),
      fileSize: upstream.size,
      expiryDate: upstream.expiry_date,
      domain: referenceOf(upstream.folder),
    }),
    status: enumOf(EvidenceStatus, upstream.status),
    controls: controls.seen,
    requirementAssessments: requirements.seen,
    hiddenLinks: controls.hidden + requirements.hidden,
    createdAt: timeOf(upstream.created_at),
    updatedAt: timeOf(upstream.updated_at),
  } satisfies MessageInitShape<typeof EvidenceSchema>;
}
