import type { MessageInitShape } from "@bufbuild/protobuf";
import { type EvidenceSchema, EvidenceStatus } from "#proto/grc/v1/evidence_service_pb.js";
import { rowsOf } from "../../lib/answers.js";
import { given } from "../../lib/fields.js";
import { timeOf } from "../../lib/time.js";
import { enumOf } from "../../lib/words.js";
import type { Platform } from "../../platform.js";
import type { Dated } from "./by-time.js";
import { chunksOf } from "./lists.js";
import { REQUIREMENT_ASSESSMENTS } from "./requirement-assessment.js";
import { mayIn, readOwned, type Tenant } from "./tenancy.js";
import { fileNameOf, OWNERS_OF_A_ROW, type Related, referenceOf, referencesOf } from "./upstream.js";

/** Evidence as the platform shows it. */
export interface UpstreamEvidence extends Dated {
  readonly name: string;
  readonly description: string | null;
  readonly status: string | null;
  readonly link: string | null;
  readonly attachment: string | null;
  readonly size: string | null;
  readonly expiry_date: string | null;
  readonly applied_controls: readonly Related[];
  readonly requirement_assessments: readonly Related[];
  readonly owner?: readonly Related[];
  readonly updated_at: string;
}

/** The list of evidence. */
export const EVIDENCE = "/api/evidences/";

/** The list of its versions. */
export const REVISIONS = "/api/evidence-revisions/";

/** Reads evidence of the tenant as tools show it. */
export async function readEvidence(platform: Platform, id: string, tenant: Tenant) {
  return evidenceFor(platform, await readOwned<UpstreamEvidence>(platform, EVIDENCE, id, "evidence_id", tenant));
}

/** Evidence as its reader may see it. */
export async function evidenceFor(platform: Platform, upstream: UpstreamEvidence) {
  const [shown] = await shownTo(platform, [upstream]);
  return evidenceOf(shown!);
}

/** A page of evidence as its reader may see it. */
export async function evidenceRowsFor(platform: Platform, rows: readonly UpstreamEvidence[]) {
  return (await shownTo(platform, rows)).map(evidenceRowOf);
}

/** Evidence without the requirement assessments that it names to a respondent, and that their list hides. */
async function shownTo(platform: Platform, rows: readonly UpstreamEvidence[]): Promise<UpstreamEvidence[]> {
  const isOpen = new Map<string, boolean>();
  for (const { folder, requirement_assessments: told } of rows) {
    if (told.length === 0 || isOpen.has(folder.id!)) continue;
    isOpen.set(folder.id!, await mayIn(platform, folder.id!, "view_compliance_assessment_full"));
  }
  const narrowed = rows.filter(({ folder }) => isOpen.get(folder.id!) === false).map(({ id }) => id);
  const seen = new Set<string>();
  for (const evidences of chunksOf(narrowed)) {
    const query = { evidences, limit: MAX_LINKS };
    const request = { verb: "GET", path: REQUIREMENT_ASSESSMENTS, query } as const;
    const answer = await platform.rest<{ results?: unknown } | undefined>(request);
    for (const { id } of rowsOf<{ id: string }>(platform.server, answer?.results, "id")) seen.add(id);
  }
  return rows.map((row) =>
    isOpen.get(row.folder.id!) === false
      ? {
          ...row,
          requirement_assessments: row.requirement_assessments.map((one) => (seen.has(one.id ?? "") ? one : {})),
        }
      : row,
  );
}

const MAX_LINKS = 1_000;

function evidenceRowOf(upstream: UpstreamEvidence): MessageInitShape<typeof EvidenceSchema> {
  const { id, name, fileName, expiryDate, status, controls, requirementAssessments, owners, hiddenLinks, createdAt } =
    evidenceOf(upstream);
  return {
    id,
    name,
    ...given({ fileName, expiryDate, createdAt }),
    status,
    hiddenLinks,
    ...(controls.length > 0 && { controlCount: controls.length }),
    ...(upstream.link && { hasLink: true }),
    ...(requirementAssessments.length > 0 && { requirementAssessmentCount: requirementAssessments.length }),
    owners: owners.slice(0, OWNERS_OF_A_ROW).map((owner) => ({ id: owner.id })),
  };
}

function evidenceOf(upstream: UpstreamEvidence) {
  const controls = referencesOf(upstream.applied_controls);
  const requirements = referencesOf(upstream.requirement_assessments);
  const owners = referencesOf(upstream.owner);
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
    owners: owners.seen,
    hiddenLinks: controls.hidden + requirements.hidden + owners.hidden,
    createdAt: timeOf(upstream.created_at),
    updatedAt: timeOf(upstream.updated_at),
  } satisfies MessageInitShape<typeof EvidenceSchema>;
}
