import type { MessageInitShape } from "@bufbuild/protobuf";
import { type EvidenceSchema, EvidenceService, EvidenceStatus } from "#proto/grc/v1/evidence_service_pb.js";
import { permissionDenied } from "../../../../shared/rpc/errors.js";
import { unary } from "../../../binding.js";
import { objectOf } from "../../../lib/answers.js";
import { given } from "../../../lib/fields.js";
import { pagingOf } from "../../../lib/pages.js";
import { timeOf } from "../../../lib/time.js";
import { enumOf, wordOf } from "../../../lib/words.js";
import type { CisoMe } from "../adapter.js";
import { CONTROLS } from "../control.js";
import { pageOf, readTenantPages } from "../lists.js";
import { domainIdsOf, domainOf, readAllOwned, readOwned, tenantOf } from "../tenancy.js";
import { type Related, referenceOf, referencesOf } from "../upstream.js";

interface UpstreamEvidence {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly status: string | null;
  readonly link: string | null;
  readonly attachment: string | null;
  readonly size: string | null;
  readonly expiry_date: string | null;
  readonly folder: Related;
  readonly applied_controls: readonly Related[];
  readonly requirement_assessments: readonly Related[];
  readonly created_at: string;
  readonly updated_at: string;
}

const EVIDENCE = "/api/evidences/";

/** How the tools of this service are answered. */
export const bindings = [
  unary(EvidenceService.method.listEvidence, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const page = pageOf(r, tenant.id);
    if (r.controlId !== undefined) await readOwned(platform, CONTROLS, r.controlId, "control_id", tenant);
    const query = {
      status: r.statuses.map((status) => wordOf(EvidenceStatus, status)),
      applied_controls: r.controlId,
      search: r.query,
      ordering: "-created_at,id",
    };
    const listed = await readTenantPages<UpstreamEvidence>(
      platform,
      EVIDENCE,
      query,
      domainIdsOf(tenant),
      page,
      tenant,
    );
    return { evidence: listed.rows.map(evidenceRowOf), ...pagingOf(page, listed) };
  }),

  unary(EvidenceService.method.getEvidence, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    return { evidence: evidenceOf(await readOwned(platform, EVIDENCE, r.evidenceId, "evidence_id", tenant)) };
  }),

  unary(EvidenceService.method.createEvidence, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const folder = domainOf(tenant, r.domainId);
    await readAllOwned(platform, CONTROLS, r.controlIds, "control_ids", tenant);
    const { name, description, link, expiryDate } = r;
    const body = { name, folder, description, link, expiry_date: expiryDate, applied_controls: r.controlIds };
    const written = await platform.rest({ verb: "POST", path: EVIDENCE, body });
    const { id } = objectOf<{ id: string }>(platform.server, written, "id");
    return { evidence: evidenceOf(await readOwned(platform, EVIDENCE, id, "evidence_id", tenant)) };
  }),

  unary(EvidenceService.method.updateEvidence, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const read = () => readOwned<UpstreamEvidence>(platform, EVIDENCE, r.evidenceId, "evidence_id", tenant);
    const patch = (body: Record<string, unknown>) =>
      platform.rest({ verb: "PATCH", path: `${EVIDENCE}${r.evidenceId}/`, body });
    const before = await read();
    if (r.link !== undefined) {
      // The platform puts the evidence back to review even where it then refuses the version.
      const { capabilities } = await platform.me<CisoMe>();
      if (!capabilities.includes("*") && !capabilities.includes("add_evidencerevision")) {
        throw permissionDenied("link: you may not add versions of evidence; ask the grc platform's administrator");
      }
    }
    const status = r.status === undefined ? undefined : wordOf(EvidenceStatus, r.status);
    // First, and also where nothing else changes: nothing is touched where the caller
    // may not change this evidence.
    await patch({
      name: r.name,
      description: r.description === "" ? null : r.description,
      expiry_date: r.expiryDate === "" ? null : r.expiryDate,
      ...(r.link === undefined && { status }),
    });
    if (r.link !== undefined) {
      // A link written into the evidence itself is taken and lost; it belongs to a version.
      const body = { evidence: before.id, folder: before.folder.id, link: r.link, observation: r.versionNote };
      await platform.rest({ verb: "POST", path: "/api/evidence-revisions/", body });
      if (status !== undefined) await patch({ status });
    }
    return { evidence: evidenceOf(await read()) };
  }),
];

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
      fileName: upstream.attachment?.split("/").at(-1),
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
