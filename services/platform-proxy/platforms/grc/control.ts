import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  ControlCategory,
  ControlEffort,
  type ControlSchema,
  ControlStatus,
  CsfFunction,
} from "#proto/grc/v1/control_service_pb.js";
import { given } from "../../lib/fields.js";
import { timeOf } from "../../lib/time.js";
import { enumOf } from "../../lib/words.js";
import type { Dated } from "./by-time.js";
import { type CostFields, costOf, type Priced } from "./control-cost.js";
import { OWNERS_OF_A_ROW, type Related, referenceOf, referencesOf } from "./upstream.js";

/** An applied control as the platform shows it; a list leaves its evidence out. */
export interface UpstreamControl extends Dated, Priced {
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
  readonly reference_control: Related | null;
  readonly owner: readonly Related[];
  readonly assets: readonly Related[];
  readonly evidences?: readonly Related[];
  readonly updated_at: string;
}

/** The list of controls. */
export const CONTROLS = "/api/applied-controls/";

/** What of a control can be written. */
export interface ControlFields extends CostFields {
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

/** A control as a row of a list, less its maturity. */
export function controlRowOf(upstream: UpstreamControl) {
  const { id, name, refId, status, category, csfFunction, priority, progress, eta, ...links } = controlOf(upstream);
  const { owners, hiddenLinks } = links;
  return {
    id,
    name,
    ...given({ refId, priority, eta }),
    ...{ status, category, csfFunction, progress, hiddenLinks },
    owners: owners.slice(0, OWNERS_OF_A_ROW).map(({ id }) => ({ id })),
  };
}

/** A control as tools show it, less its maturity. */
export function controlOf(upstream: UpstreamControl) {
  const owners = referencesOf(upstream.owner);
  const evidence = referencesOf(upstream.evidences);
  return {
    id: upstream.id,
    name: upstream.name,
    ...given({
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
      createdAt: timeOf(upstream.created_at),
      updatedAt: timeOf(upstream.updated_at),
      cost: costOf(upstream),
    }),
    status: enumOf(ControlStatus, upstream.status),
    category: enumOf(ControlCategory, upstream.category),
    csfFunction: enumOf(CsfFunction, upstream.csf_function),
    effort: enumOf(ControlEffort, upstream.effort),
    progress: upstream.progress_field,
    owners: owners.seen,
    evidence: evidence.seen,
    hiddenLinks: owners.hidden + evidence.hidden + referencesOf(upstream.assets).hidden,
  } satisfies MessageInitShape<typeof ControlSchema>;
}

/** Sizes of an effort on the platform, by the words of ControlEffort. */
export const EFFORTS = { extra_small: "XS", small: "S", medium: "M", large: "L", extra_large: "XL" };

const IMPACTS = ["very low", "low", "medium", "high", "very high"];

/** 1 to 5 for the label of an impact; undefined where none is set. */
function impactOf(label: string | null): number | undefined {
  const index = IMPACTS.indexOf((label ?? "").toLowerCase());
  return index < 0 ? undefined : index + 1;
}

/** 1 to 4 for the label of a priority, such as "P1"; undefined where none is set. */
function priorityOf(label: string | null): number | undefined {
  const digit = /^P([1-4])$/.exec(label ?? "")?.[1];
  return digit === undefined ? undefined : Number(digit);
}

/** Whether nothing of a control is left to do. */
export const isFinished = ({ status }: Pick<UpstreamControl, "status">) =>
  status === "active" || status === "deprecated";
