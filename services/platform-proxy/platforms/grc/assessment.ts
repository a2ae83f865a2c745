import type { MessageInitShape } from "@bufbuild/protobuf";
import { AssessmentStatus } from "#proto/grc/v1/assessment_pb.js";
import type { AssessmentSchema } from "#proto/grc/v1/assessment_service_pb.js";
import { given } from "../../lib/fields.js";
import { enumOf } from "../../lib/words.js";
import type { Dated } from "./by-time.js";
import type { UpstreamAudit } from "./scope.js";
import type { Tenant } from "./tenancy.js";
import { type Level, type Reference, type Related, referenceOf } from "./upstream.js";

/** An audit as a list of the platform shows it. */
export interface UpstreamAuditRow extends Dated {
  readonly ref_id: string | null;
  readonly name: string;
  readonly description: string | null;
  readonly status: string | null;
  readonly progress: number;
  readonly is_locked: boolean;
  readonly due_date: string | null;
  readonly framework: Related;
}

/** An audit as it is read by itself. */
export type UpstreamWholeAudit = UpstreamAuditRow &
  UpstreamAudit & {
    readonly version: string | null;
    readonly min_score: number;
    readonly max_score: number;
    readonly scoring_enabled?: boolean;
    /** Who may see which of its fields. */
    readonly field_visibility?: Readonly<Record<string, { readonly auditor?: string; readonly respondent?: string }>>;
  };

/** How mature an audit found its tenant, as the platform computes it; -1 where nothing is scored. */
export interface UpstreamScore {
  readonly maturity_score: number;
  readonly implementation_score: number;
  readonly documentation_score: number;
  readonly min_score: number;
  readonly max_score: number;
  readonly target_score: number | null;
  /** How scores are put together: where they are added up, the highest is total_max_score. */
  readonly score_calculation_method?: string;
  readonly total_max_score?: number | null;
  readonly scoring_enabled: boolean;
  readonly scores_definition: readonly Level[] | null;
}

/** An audit as a row of a list. */
export function auditRowOf(upstream: UpstreamAuditRow, tenant: Tenant) {
  const { id, name, ref_id: refId, due_date: dueDate, progress, framework } = upstream;
  const status = enumOf(AssessmentStatus, upstream.status);
  return {
    id,
    name,
    ...given({ refId, dueDate, status: status || undefined }),
    progress,
    ...(framework?.id !== undefined && { framework: { id: framework.id } }),
    ...(tenant.domains.get(upstream.folder.id ?? "")?.isEnclave === true && { thirdParty: true }),
    ...(upstream.is_locked && { locked: true }),
  } satisfies MessageInitShape<typeof AssessmentSchema>;
}

/** An audit as it is read by itself; its framework under the name that the framework itself has. */
export function auditOf(upstream: UpstreamWholeAudit, framework: Reference | undefined, tenant: Tenant) {
  const { description, version, min_score: minScore, max_score: maxScore } = upstream;
  return {
    ...auditRowOf(upstream, tenant),
    ...given({
      description,
      version,
      framework,
      domain: referenceOf(upstream.folder),
      minScore,
      maxScore,
    }),
    groups: groupsOf(upstream),
    scoresVisible: upstream.scoring_enabled === true,
  } satisfies MessageInitShape<typeof AssessmentSchema>;
}

/** The references of the groups that an audit covers: the platform gives names here, and references everywhere else. */
function groupsOf({ selected_implementation_groups: chosen, framework }: UpstreamWholeAudit): string[] {
  const refs = new Map((framework?.implementation_groups_definition ?? []).map(({ name, ref_id }) => [name, ref_id]));
  const names = (chosen ?? []).flatMap((one) => (typeof one === "string" ? one : (one.value ?? [])));
  return names.map((name) => refs.get(name) ?? name);
}
