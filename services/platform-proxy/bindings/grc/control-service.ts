import {
  ControlCategorySchema,
  ControlEffortSchema,
  ControlOrder,
  ControlService,
  ControlStatusSchema,
  CsfFunctionSchema,
} from "#proto/grc/v1/control_service_pb.js";
import { steps } from "../../binding.js";
import type { Platform } from "../../platform.js";
import { codeOf, EFFORTS } from "./codes.js";
import { CONTROLS, type ControlFields, controlOf, type UpstreamControl } from "./control.js";
import { pageOf, pagingOf, readPage, readTenantPage } from "./pages.js";
import { maturityOf, REQUIREMENT_ASSESSMENTS, type UpstreamRequirementAssessment } from "./requirement-assessment.js";
import { setControlMaturity } from "./set-control-maturity.js";
import {
  domainIdsOf,
  domainOf,
  readAllOwned,
  readNamed,
  readOwned,
  readShared,
  type Tenant,
  tenantOf,
} from "./tenancy.js";

const ORDERS: Readonly<Record<ControlOrder, string>> = {
  [ControlOrder.UNSPECIFIED]: "-created_at,id",
  [ControlOrder.NEWEST]: "-created_at,id",
  [ControlOrder.LAST_CHANGED]: "-updated_at,id",
  [ControlOrder.NAME]: "name,id",
  [ControlOrder.ETA]: "eta,id",
  [ControlOrder.PRIORITY]: "priority,id",
};

/** A control answers few requirements; more than these are not listed with it. */
const MAX_MATURITY = 50;

export const controlService = [
  steps(ControlService.method.listControls, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const page = pageOf(r, tenant.id);
    const query = {
      folder: r.domainId === undefined ? domainIdsOf(tenant) : [domainOf(tenant, r.domainId)],
      status: r.statuses.map((status) => codeOf(ControlStatusSchema, status)),
      ...(r.category !== undefined && { category: codeOf(ControlCategorySchema, r.category) }),
      ...(r.csfFunction !== undefined && { csf_function: codeOf(CsfFunctionSchema, r.csfFunction) }),
      priority: r.priority,
      search: r.search,
      ordering: ORDERS[r.orderBy ?? ControlOrder.NEWEST],
    };
    const { count, results } = await readTenantPage<UpstreamControl>(platform, CONTROLS, query, page, tenant);
    return { controls: results.map(controlOf), ...pagingOf(page, count) };
  }),

  steps(ControlService.method.getControl, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    return { control: await readControl(platform, r.controlId, tenant) };
  }),

  steps(ControlService.method.createControl, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const folder = domainOf(tenant, r.domainId);
    await readAllOwned(platform, "/api/evidences/", r.evidenceIds, "evidence_ids", tenant);
    for (const id of r.ownerActorIds) await readNamed(platform, "/api/actors/", id, "owner_actor_ids", tenant);
    const reference = r.referenceControlId;
    if (reference !== undefined) {
      await readShared(platform, "/api/reference-controls/", reference, "reference_control_id", tenant);
    }
    const body = {
      ...fieldsOf(r),
      // Left out, it would be the root, where everybody of every tenant sees it.
      folder,
      owner: r.ownerActorIds,
      evidences: r.evidenceIds,
      ...(reference !== undefined && { reference_control: reference }),
    };
    // A write is answered with codes and ids only; what is handed out is read back.
    const { id } = await platform.rest<{ id: string }>({ verb: "POST", path: CONTROLS, body });
    return { control: await readControl(platform, id, tenant) };
  }),

  steps(ControlService.method.updateControl, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    await readOwned(platform, CONTROLS, r.controlId, "control_id", tenant);
    await platform.rest({ verb: "PATCH", path: `${CONTROLS}${r.controlId}/`, body: fieldsOf(r) });
    return { control: await readControl(platform, r.controlId, tenant) };
  }),

  steps(ControlService.method.deleteControl, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const { id, name } = await readOwned<UpstreamControl>(platform, CONTROLS, r.controlId, "control_id", tenant);
    await platform.rest({ verb: "DELETE", path: `${CONTROLS}${id}/` });
    return { deleted: { id, name } };
  }),

  steps(ControlService.method.setControlMaturity, setControlMaturity),
];

async function readControl(platform: Platform, id: string, tenant: Tenant) {
  const control = await readOwned<UpstreamControl>(platform, CONTROLS, id, "control_id", tenant);
  const page = { limit: MAX_MATURITY, offset: 0, digest: "" };
  const answers = await readPage<UpstreamRequirementAssessment>(
    platform,
    REQUIREMENT_ASSESSMENTS,
    { applied_controls: id },
    page,
  );
  // Somebody with roles in two tenants may have linked it across them.
  const own = answers.results.filter(({ folder }) => tenant.domains.has(folder.id ?? ""));
  return { ...controlOf(control), maturity: own.map(maturityOf) };
}

/** The platform's names and codes for the fields given; an empty text takes a value away. */
function fieldsOf(r: ControlFields): Record<string, unknown> {
  const emptied = (text: string | undefined) => (text === "" ? null : text);
  return {
    name: r.name,
    ref_id: emptied(r.refId),
    description: emptied(r.description),
    status: r.status === undefined ? undefined : codeOf(ControlStatusSchema, r.status),
    category: r.category === undefined ? undefined : codeOf(ControlCategorySchema, r.category),
    csf_function: r.csfFunction === undefined ? undefined : codeOf(CsfFunctionSchema, r.csfFunction),
    priority: r.priority,
    effort: r.effort === undefined ? undefined : codeOf(ControlEffortSchema, r.effort, EFFORTS),
    control_impact: r.impact,
    progress_field: r.progress,
    eta: emptied(r.eta),
    link: emptied(r.link),
    observation: emptied(r.observation),
  };
}
