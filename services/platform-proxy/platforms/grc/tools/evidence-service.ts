import { ConnectError } from "@connectrpc/connect";
import {
  EvidenceService,
  EvidenceStatus,
  type ListEvidenceRequest,
  type UpdateEvidenceRequest,
} from "#proto/grc/v1/evidence_service_pb.js";
import { WriteFailure_Outcome as Outcome } from "#proto/mcp/v1/write_failure_pb.js";
import { failedPrecondition, permissionDenied } from "../../../../shared/rpc/errors.js";
import { withOutcomeSaid } from "../../../../shared/rpc/write-outcome.js";
import { unary } from "../../../binding.js";
import type { Query } from "../../../lib/http.js";
import { type Place, pagingOf } from "../../../lib/pages.js";
import { enumOf, wordOf } from "../../../lib/words.js";
import { writingBack } from "../../../lib/writing-back.js";
import type { Platform } from "../../../platform.js";
import { attachEvidence } from "../attach-evidence.js";
import { pageByDay } from "../by-day.js";
import { pageByTime, readByTime } from "../by-time.js";
import { CONTROLS } from "../control.js";
import { dayOf } from "../days.js";
import { EVIDENCE, evidenceFor, evidenceRowsFor, REVISIONS, readEvidence, type UpstreamEvidence } from "../evidence.js";
import { readEvidenceFile, uploadEvidenceFile } from "../evidence-file.js";
import { queriesOfAudit } from "../evidence-of-audit.js";
import { pageOf, queriesOf, type Rows, readAll } from "../lists.js";
import { ownerNamed } from "../owners.js";
import { searchOf } from "../search-words.js";
import {
  domainIdsOf,
  domainOf,
  inTenant,
  makeSure,
  mayIn,
  readAllOwned,
  readOwned,
  readShared,
  type Tenant,
} from "../tenancy.js";
import { namedOnce, OWNERS_OF_A_ROW, referencesOf } from "../upstream.js";
import { create, emptied, linkOf, remove } from "../writes.js";

/** What a write changes. */
const evidenceIn = (r: { readonly evidenceId: string }) => [r.evidenceId];

/** How the tools of this service are answered. */
export const bindings = [
  unary(EvidenceService.method.listEvidence, (r, platform) =>
    inTenant(platform, r.tenantId, async (tenant) => {
      const page = pageOf(r, tenant.id);
      const control = r.controlId && (await readShared(platform, CONTROLS, r.controlId, "control_id", tenant)).id;
      const query = {
        status: r.statuses.map((status) => wordOf(EvidenceStatus, status)),
        applied_controls: control || undefined,
        owner: await ownerNamed(platform, r.ownerId, tenant),
        search: searchOf(r.query),
      };
      const listed = await listEvidence(r, platform, query, control || undefined, page, tenant);
      return {
        evidence: await evidenceRowsFor(platform, listed.rows),
        owners: namedOnce(listed.rows.flatMap(({ owner }) => referencesOf(owner).seen.slice(0, OWNERS_OF_A_ROW))),
        ...pagingOf(page, listed),
      };
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

  // What is attached to one of its controls meanwhile would take the new evidence away from it.
  writingBack(
    EvidenceService.method.createEvidence,
    (r) => r.controlIds,
    (r, asked) =>
      inTenant(asked, r.tenantId, async (tenant, platform) => {
        const folder = domainOf(tenant, r.domainId);
        const controls = await readAllOwned(platform, CONTROLS, r.controlIds, "control_ids", tenant);
        const { name, description } = r;
        const body = {
          name,
          folder,
          description,
          link: linkOf(r.link),
          expiry_date: dayOf("expiry_date", r.expiryDate),
          applied_controls: controls,
        };
        return { evidence: await readEvidence(platform, await create(platform, EVIDENCE, body), tenant) };
      }),
  ),

  // A link makes a version, as a file that is uploaded does.
  writingBack(EvidenceService.method.updateEvidence, evidenceIn, (r, asked) =>
    inTenant(asked, r.tenantId, (tenant, platform) => updateEvidence(r, platform, tenant)),
  ),

  // It is the control or the requirement that is written.
  writingBack(
    EvidenceService.method.attachEvidence,
    (r) => [r.controlId, r.requirementAssessmentId],
    (r, asked) => inTenant(asked, r.tenantId, (tenant, platform) => attachEvidence(r, platform, tenant)),
  ),

  writingBack(EvidenceService.method.uploadEvidenceFile, evidenceIn, (r, asked) =>
    inTenant(asked, r.tenantId, (tenant, platform) => uploadEvidenceFile(r, platform, tenant)),
  ),

  unary(EvidenceService.method.readEvidenceFile, (r, platform) =>
    inTenant(platform, r.tenantId, (tenant) => readEvidenceFile(r, platform, tenant)),
  ),

  unary(EvidenceService.method.deleteEvidence, (r, asked) =>
    inTenant(asked, r.tenantId, (tenant, platform) => remove(platform, EVIDENCE, r.evidenceId, "evidence_id", tenant)),
  ),
];

async function updateEvidence(r: UpdateEvidenceRequest, platform: Platform, tenant: Tenant) {
  const before = await readOwned<UpstreamEvidence>(platform, EVIDENCE, r.evidenceId, "evidence_id", tenant);
  const patch = (body: Record<string, unknown>) =>
    platform.rest({ verb: "PATCH", path: `${EVIDENCE}${before.id}/`, body });
  const link = linkOf(r.link);
  // The platform puts the evidence back to review even where it then refuses the version.
  if (link !== undefined && !(await mayIn(platform, before.folder.id!, "add_evidencerevision"))) {
    throw permissionDenied(
      "link: you may not add versions of this evidence; ask the administrator of CISO Assistant for the right",
    );
  }
  const status = r.status === undefined ? undefined : wordOf(EvidenceStatus, r.status);
  const fields = {
    name: r.name,
    description: emptied(r.description),
    expiry_date: emptied(dayOf("expiry_date", r.expiryDate)),
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
    throw withOutcomeSaid(
      failedPrecondition(
        `status: CISO Assistant did not change it, because a respondent of an audit may not judge evidence${rest ? "; the other fields were changed" : ""}`,
      ),
      rest ? Outcome.PARTLY : Outcome.UNCHANGED,
    );
  }
  return { evidence: await evidenceFor(platform, after) };
}

/** A version was refused after the other fields were written. */
function halfDone(error: unknown): unknown {
  if (!(error instanceof ConnectError)) return error;
  return new ConnectError(
    `${error.rawMessage}; the other fields were changed, but the new version was probably not made, so read the evidence`,
    error.code,
    undefined,
    undefined,
    error.cause,
  );
}

/** The page of evidence that a query finds, narrowed to an audit, to what expires before a day and to what is empty. */
async function listEvidence(
  r: ListEvidenceRequest,
  platform: Platform,
  query: Query,
  control: string | undefined,
  page: Place,
  tenant: Tenant,
): Promise<Rows<UpstreamEvidence>> {
  const expiresBefore = dayOf("expires_before", r.expiresBefore);
  const queries =
    r.assessmentId === undefined
      ? queriesOf(query, "folder", domainIdsOf(tenant))
      : await queriesOfAudit(platform, query, r.assessmentId, control, tenant);
  if (expiresBefore === undefined && r.assessmentId === undefined && r.emptyOnly !== true) {
    return readByTime<UpstreamEvidence>(platform, EVIDENCE, queries, "newest", page, tenant);
  }
  // The platform knows no range of days and nothing of what is missing, and several queries may find the same.
  const found = await readAll<UpstreamEvidence>(platform, EVIDENCE, queries, tenant);
  if (found.length === 0) await makeSure(platform, tenant);
  const all = r.emptyOnly === true ? found.filter(({ attachment, link }) => !attachment && !link) : found;
  if (expiresBefore === undefined) return pageByTime(all, "newest", page);
  const expiring = all.filter(({ expiry_date: day }) => day !== null && day < expiresBefore);
  return pageByDay(expiring, (row) => row.expiry_date ?? "", page);
}
