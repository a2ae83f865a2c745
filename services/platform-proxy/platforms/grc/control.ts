import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  ControlCategorySchema,
  ControlEffortSchema,
  type ControlSchema,
  ControlStatusSchema,
  CsfFunctionSchema,
} from "#proto/grc/v1/control_service_pb.js";
import { enumOf, impactOf, priorityOf } from "./codes.js";
import { present, type Related, referenceOf, referencesOf, timeOf } from "./upstream.js";

/** An applied control as the platform shows it; a list leaves its evidence out. */
export interface UpstreamControl {
  readonly id: string;
  readonly ref_id: string | null;
  readonly name: string;
  readonly description: string | null;
  readonly status: string | null;
  readonly category: string | null;
  readonly csf_function: string | null;
  readonly priority: string | null;
  readonly effort: string | null;
  readonly control_impact: string | null;
  readonly progress_field: number;
  readonly eta: string | null;
  readonly expiry_date: string | null;
  readonly link: string | null;
  readonly observation: string | null;
  readonly folder: Related;
  readonly reference_control: Related | null;
  readonly owner: readonly Related[];
  readonly assets: readonly Related[];
  readonly evidences?: readonly Related[];
  readonly created_at: string;
  readonly updated_at: string;
}

export const CONTROLS = "/api/applied-controls/";

/** What of a control can be written. */
export interface ControlFields {
  readonly name?: string | undefined;
  readonly refId?: string | undefined;
  readonly description?: string | undefined;
  readonly status?: number | undefined;
  readonly category?: number | undefined;
  readonly csfFunction?: number | undefined;
  readonly priority?: number | undefined;
  readonly effort?: number | undefined;
  readonly impact?: number | undefined;
  readonly progress?: number | undefined;
  readonly eta?: string | undefined;
  readonly link?: string | undefined;
  readonly observation?: string | undefined;
}

export function controlOf(upstream: UpstreamControl) {
  const owners = referencesOf(upstream.owner);
  const evidence = referencesOf(upstream.evidences);
  return {
    id: upstream.id,
    name: upstream.name,
    ...present({
      refId: upstream.ref_id,
      description: upstream.description,
      priority: priorityOf(upstream.priority),
      impact: impactOf(upstream.control_impact),
      eta: upstream.eta,
      expiryDate: upstream.expiry_date,
      link: upstream.link,
      observation: upstream.observation,
      domain: referenceOf(upstream.folder),
      referenceControl: referenceOf(upstream.reference_control),
    }),
    status: enumOf(ControlStatusSchema, upstream.status),
    category: enumOf(ControlCategorySchema, upstream.category),
    csfFunction: enumOf(CsfFunctionSchema, upstream.csf_function),
    effort: enumOf(ControlEffortSchema, upstream.effort),
    progress: upstream.progress_field,
    owners: owners.seen,
    evidence: evidence.seen,
    hiddenLinks: owners.hidden + evidence.hidden + referencesOf(upstream.assets).hidden,
    createdAt: timeOf(upstream.created_at),
    updatedAt: timeOf(upstream.updated_at),
  } satisfies MessageInitShape<typeof ControlSchema>;
}
