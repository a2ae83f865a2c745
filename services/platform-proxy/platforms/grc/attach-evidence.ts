import type { MessageInitShape } from "@bufbuild/protobuf";
import type { AttachEvidenceRequest, AttachEvidenceResponseSchema } from "#proto/grc/v1/evidence_service_pb.js";
import { WriteFailure_Outcome as Outcome } from "#proto/mcp/v1/write_failure_pb.js";
import { failedPrecondition } from "../../../shared/rpc/errors.js";
import { withOutcomeSaid } from "../../../shared/rpc/write-outcome.js";
import type { Platform } from "../../platform.js";
import { CONTROLS } from "./control.js";
import { EVIDENCE, type UpstreamEvidence } from "./evidence.js";
import { REQUIREMENT_ASSESSMENTS } from "./requirement-assessment.js";
import { readOwned, type Tenant } from "./tenancy.js";
import { type Related, referencesOf } from "./upstream.js";
import { change, type Written } from "./writes.js";

/** What evidence can be attached to. */
type Target = Written & { readonly evidences: readonly Related[] };

/**
 * Adds evidence to a control or a requirement. The platform knows no such
 * thing: a list that is written replaces the one there, which is read first and
 * again after.
 *
 * @throws ConnectError failed_precondition, rather than drop evidence that the caller does not see.
 */
export async function attachEvidence(
  r: AttachEvidenceRequest,
  platform: Platform,
  tenant: Tenant,
): Promise<MessageInitShape<typeof AttachEvidenceResponseSchema>> {
  const evidence = await readOwned<UpstreamEvidence>(platform, EVIDENCE, r.evidenceId, "evidence_id", tenant);
  const [path, argument, id] =
    r.controlId === undefined
      ? [REQUIREMENT_ASSESSMENTS, "requirement_assessment_id", r.requirementAssessmentId!]
      : [CONTROLS, "control_id", r.controlId];
  const before = await readOwned<Target>(platform, path, id, argument, tenant);
  const there = referencesOf(before.evidences);
  const ids = there.seen.map((one) => one.id!);
  const told = {
    evidence: { id: evidence.id, name: evidence.name },
    attachedTo: { id: before.id, name: before.name },
  };
  if (ids.includes(evidence.id)) return { ...told, evidenceCount: ids.length, alreadyAttached: true };
  if (there.hidden > 0) {
    throw failedPrecondition(
      `${argument}: CISO Assistant would remove evidence that you may not see (${there.hidden}); ask a user who can see it to attach this evidence`,
    );
  }
  const wanted = [...ids, evidence.id];
  const after = await change<Target>(platform, path, before, argument, { evidences: wanted }, tenant);
  const now = referencesOf(after.evidences).seen.map((one) => one.id!);
  if (!now.includes(evidence.id)) {
    throw withOutcomeSaid(
      failedPrecondition(
        `${argument}: CISO Assistant did not attach the evidence because the audit does not let you change this field; ask the audit's manager to open the field to you or to attach the evidence`,
      ),
      Outcome.UNCHANGED,
    );
  }
  return { ...told, evidenceCount: now.length };
}
