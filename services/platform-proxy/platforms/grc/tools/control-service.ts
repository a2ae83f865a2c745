import {
  ControlCategory,
  ControlEffort,
  ControlOrder,
  ControlService,
  ControlStatus,
  CsfFunction,
  type ListControlsRequest,
} from "#proto/grc/v1/control_service_pb.js";
import { failedPrecondition, invalidArgument } from "../../../../shared/rpc/errors.js";
import { unary } from "../../../binding.js";
import { given } from "../../../lib/fields.js";
import type { Query } from "../../../lib/http.js";
import { type Place, pagingOf } from "../../../lib/pages.js";
import { wordOf } from "../../../lib/words.js";
import { writingBack } from "../../../lib/writing-back.js";
import type { Platform } from "../../../platform.js";
import { pageByNumber } from "../by-number.js";
import { NONE, type Rank, readByRank } from "../by-rank.js";
import { pageByTime, readByTime } from "../by-time.js";
import { CONTROLS, type ControlFields, controlOf, controlRowOf, EFFORTS, type UpstreamControl } from "../control.js";
import { costsOf, costWritten, totalsOf, type UpstreamCost } from "../control-cost.js";
import { dayOf } from "../days.js";
import { EVIDENCE } from "../evidence.js";
import { chunksOf, pageOf, queriesOf, type Rows, readAll } from "../lists.js";
import { ownerNamed } from "../owners.js";
import { answeredBy, controlMaturityOf } from "../requirement-assessment.js";
import { risksByControl, SCENARIOS, type UpstreamScenario } from "../risk.js";
import { searchOf } from "../search-words.js";
import { setControlMaturity } from "../set-control-maturity.js";
import {
  domainIdsOf,
  domainOf,
  inTenant,
  makeSure,
  readAllOwned,
  readNamed,
  readOwned,
  readShared,
  type Tenant,
} from "../tenancy.js";
import { namedOnce, OWNERS_OF_A_ROW, referencesOf } from "../upstream.js";
import { create, emptied, linkOf, remove } from "../writes.js";

/** Orders by something that several controls may share, and that others may change meanwhile. */
const RANKS: Readonly<Partial<Record<ControlOrder, Rank<UpstreamControl>>>> = {
  [ControlOrder.LAST_CHANGED]: { ordering: "-updated_at,id", of: (row) => row.updated_at, isDescending: true },
  [ControlOrder.NAME]: { ordering: "name,id", of: (row) => row.name.toLowerCase() },
  [ControlOrder.ETA]: { ordering: "eta,id", of: (row) => row.eta ?? NONE, known: { eta__gte: "0001-01-01" } },
  [ControlOrder.PRIORITY]: {
    ordering: "priority,id",
    of: (row) => row.priority || NONE,
    known: { priority: ["1", "2", "3", "4"] },
  },
};

/** How the tools of this service are answered. */
export const bindings = [
  unary(ControlService.method.listControls, (r, platform) =>
    inTenant(platform, r.tenantId, async (tenant) => {
      const page = pageOf(r, tenant.id);
      const { listed, costs, costTotals } = await listControls(r, platform, tenant, page);
      const ids = listed.rows.map(({ id }) => id);
      const maturity = await maturityByControl(platform, r.withMaturity === true ? ids : [], tenant);
      const risks = await risksByControl(platform, r.withRiskScenarios === true ? ids : [], tenant);
      return {
        controls: listed.rows.map((control) => ({
          ...controlRowOf(control),
          ...given({ cost: costs.get(control.id) }),
          maturity: maturity.get(control.id) ?? [],
          riskScenarios: (risks.get(control.id) ?? []).map(({ id }) => ({ id })),
        })),
        owners: namedOnce(listed.rows.flatMap(({ owner }) => referencesOf(owner).seen.slice(0, OWNERS_OF_A_ROW))),
        riskScenarios: namedOnce([...risks.values()].flat()),
        costTotals,
        ...pagingOf(page, listed),
      };
    }),
  ),

  unary(ControlService.method.getControl, (r, platform) =>
    inTenant(platform, r.tenantId, async (tenant) => {
      const control = await readShared<UpstreamControl>(platform, CONTROLS, r.controlId, "control_id", tenant);
      return { control: await withMaturity(platform, control, tenant) };
    }),
  ),

  unary(ControlService.method.createControl, (r, asked) =>
    inTenant(asked, r.tenantId, async (tenant, platform) => {
      const folder = domainOf(tenant, r.domainId);
      const evidences = await readAllOwned(platform, EVIDENCE, r.evidenceIds, "evidence_ids", tenant);
      for (const id of r.ownerActorIds) await readNamed(platform, "/api/actors/", id, "owner_actor_ids", tenant);
      const reference = r.referenceControlId;
      if (reference !== undefined) {
        await readShared(platform, "/api/reference-controls/", reference, "reference_control_id", tenant);
      }
      const body = {
        ...fieldsOf(r, undefined),
        // Left out, it would be the root, where everybody of every tenant sees it.
        folder,
        owner: r.ownerActorIds,
        evidences,
        ...(reference !== undefined && { reference_control: reference }),
      };
      return { control: await readControl(platform, await create(platform, CONTROLS, body), tenant) };
    }),
  ),

  writingBack(
    ControlService.method.updateControl,
    (r) => [r.controlId],
    (r, asked) =>
      inTenant(asked, r.tenantId, async (tenant, platform) => {
        const before = await readOwned<UpstreamControl>(platform, CONTROLS, r.controlId, "control_id", tenant);
        // The platform would answer that it did.
        if (before.status === "active" && r.status === undefined && (r.progress ?? 100) !== 100) {
          throw failedPrecondition(
            "progress: an active control always has 100 percent; change its status in the same call",
          );
        }
        await platform.rest({ verb: "PATCH", path: `${CONTROLS}${before.id}/`, body: fieldsOf(r, before.cost) });
        return { control: await readControl(platform, before.id, tenant) };
      }),
  ),

  unary(ControlService.method.deleteControl, (r, asked) =>
    inTenant(asked, r.tenantId, (tenant, platform) => remove(platform, CONTROLS, r.controlId, "control_id", tenant)),
  ),

  unary(ControlService.method.setControlMaturity, (r, asked) =>
    inTenant(asked, r.tenantId, (tenant, platform) => setControlMaturity(r, platform, tenant)),
  ),
];

/** The statuses of controls that are still to be finished; "--" means that it has no status. */
const UNFINISHED = ["to_do", "in_progress", "on_hold", "degraded", "--"];

/** The platform's words for the statuses that are meant. */
function statusesOf({ statuses, lateOnly, unfinishedOnly }: ListControlsRequest): readonly string[] {
  const asked = statuses.map((status) => wordOf(ControlStatus, status));
  if (lateOnly !== true && unfinishedOnly !== true) return asked;
  if (asked.length === 0) return UNFINISHED;
  const late = asked.filter((status) => UNFINISHED.includes(status));
  if (late.length > 0) return late;
  throw invalidArgument(
    lateOnly === true
      ? "statuses: active and deprecated controls are never late; name other statuses or omit late_only"
      : "statuses: active and deprecated controls are finished; name other statuses or omit unfinished_only",
  );
}

/** The day before which the controls that are meant are due; undefined for any. */
function dueBeforeOf({ lateOnly, dueBefore: asked }: ListControlsRequest): string | undefined {
  const dueBefore = dayOf("due_before", asked);
  const today = new Date().toISOString().slice(0, 10);
  const days = [...(lateOnly === true ? [today] : []), ...(dueBefore === undefined ? [] : [dueBefore])];
  return days.sort()[0];
}

/** The page of controls that is asked for; with what they cost, all that are found are read. */
async function listControls(r: ListControlsRequest, platform: Platform, tenant: Tenant, page: Place) {
  const queries = await queriesFor(r, platform, tenant);
  const order = r.orderBy ?? ControlOrder.NEWEST;
  if (r.withCost !== true && order !== ControlOrder.COST) {
    const listed = await readOrdered(platform, queries, order, page, tenant);
    return { listed, costs: new Map<string, never>(), costTotals: [] };
  }
  const all = await readAll<UpstreamControl>(platform, CONTROLS, queries, tenant);
  if (all.length === 0) await makeSure(platform, tenant);
  const costs = await costsOf(all, platform, CONTROLS);
  const listed =
    order === ControlOrder.COST
      ? pageByNumber(all, ({ id }) => costs.get(id)?.annual, page)
      : order === ControlOrder.NEWEST
        ? pageByTime(all, "newest", page)
        : await readOrdered(platform, queries, order, page, tenant);
  return r.withCost === true
    ? { listed, costs, costTotals: totalsOf(all, costs) }
    : { listed, costs: new Map<string, never>(), costTotals: [] };
}

async function readOrdered(
  platform: Platform,
  queries: readonly Query[],
  order: ControlOrder,
  page: Place,
  tenant: Tenant,
): Promise<Rows<UpstreamControl>> {
  return order === ControlOrder.NEWEST
    ? readByTime<UpstreamControl>(platform, CONTROLS, queries, "newest", page, tenant)
    : readByRank<UpstreamControl>(platform, CONTROLS, queries, RANKS[order]!, page, tenant);
}

/** The queries that together find the controls that are meant. */
async function queriesFor(r: ListControlsRequest, platform: Platform, tenant: Tenant): Promise<Query[]> {
  const owner = await ownerNamed(platform, r.ownerId, tenant);
  const domains = r.domainId === undefined ? domainIdsOf(tenant) : [domainOf(tenant, r.domainId)];
  const query = {
    status: statusesOf(r),
    eta__lt: dueBeforeOf(r),
    owner,
    ...(r.category !== undefined && { category: wordOf(ControlCategory, r.category) }),
    ...(r.csfFunction !== undefined && { csf_function: wordOf(CsfFunction, r.csfFunction) }),
    priority: r.priority,
    search: searchOf(r.query),
  };
  const queries = queriesOf(query, "folder", domains);
  if (r.riskScenarioId === undefined) return queries;
  const argument = "risk_scenario_id";
  const scenario = await readShared<UpstreamScenario>(platform, SCENARIOS, r.riskScenarioId, argument, tenant);
  const reducing = [scenario.applied_controls, scenario.existing_applied_controls];
  const ids = [...new Set(reducing.flatMap((list) => referencesOf(list).seen.map(({ id }) => id)))];
  return queries.flatMap((one) => chunksOf(ids).map((some) => ({ ...one, id: some.join(",") })));
}

async function readControl(platform: Platform, id: string, tenant: Tenant) {
  const control = await readOwned<UpstreamControl>(platform, CONTROLS, id, "control_id", tenant);
  return withMaturity(platform, control, tenant);
}

async function withMaturity(platform: Platform, control: UpstreamControl, tenant: Tenant) {
  const maturity = await maturityByControl(platform, [control.id], tenant);
  return { ...controlOf(control), maturity: maturity.get(control.id) ?? [] };
}

/** The scores of the requirements that controls answer, by control. */
async function maturityByControl(platform: Platform, ids: readonly string[], tenant: Tenant) {
  const byControl = new Map<string, ReturnType<typeof controlMaturityOf>>();
  if (ids.length === 0) return byControl;
  const answered = await answeredBy(platform, ids, tenant);
  for (const id of ids) {
    const own = answered.filter(({ applied_controls }) => applied_controls.some((control) => control.id === id));
    byControl.set(id, controlMaturityOf(own));
  }
  return byControl;
}

/** The platform's names and codes for the fields given; an empty text takes a value away. */
function fieldsOf(r: ControlFields, costBefore: UpstreamCost | null | undefined): Record<string, unknown> {
  return {
    name: r.name,
    ref_id: emptied(r.refId),
    description: emptied(r.description),
    status: r.status === undefined ? undefined : wordOf(ControlStatus, r.status),
    category: r.category === undefined ? undefined : wordOf(ControlCategory, r.category),
    csf_function: r.csfFunction === undefined ? undefined : wordOf(CsfFunction, r.csfFunction),
    priority: r.priority,
    effort: r.effort === undefined ? undefined : wordOf(ControlEffort, r.effort, EFFORTS),
    control_impact: r.impact,
    progress_field: r.progress,
    eta: emptied(dayOf("eta", r.eta)),
    link: linkOf(r.link),
    observation: emptied(r.observation),
    cost: costWritten(r, costBefore),
  };
}
