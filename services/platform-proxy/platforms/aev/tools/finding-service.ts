import type { ListFindingsRequest } from "#proto/aev/v1/finding_service_pb.js";
import { FindingOrder, FindingService } from "#proto/aev/v1/finding_service_pb.js";
import { invalidArgument, notFound } from "../../../../shared/rpc/errors.js";
import { unary } from "../../../binding.js";
import { objectOf } from "../../../lib/answers.js";
import { given } from "../../../lib/fields.js";
import { writingBack } from "../../../lib/writing-back.js";
import type { Platform } from "../../../platform.js";
import {
  findingOf,
  toFinding,
  toFindingRow,
  type UpstreamFinding,
  type UpstreamFindingDetails,
  withTargets,
} from "../finding.js";
import { scoreIn, scoresIn, scoresOf, worstFirst } from "../finding-scores.js";
import { injectOf } from "../inject.js";
import { instantKey, listPage, type Order } from "../list.js";
import { memberOf, SCENARIO, SIMULATION } from "../member.js";
import { between, oneOf, type Search, searchOnce } from "../search.js";
import { type TenantScope, tenantOf } from "../tenant.js";

const NEWEST_FIRST: Order<UpstreamFinding> = {
  sorts: [{ property: "finding_created_at", direction: "desc" }],
  keyOf: (row) => instantKey(row.finding_created_at),
};

/** What a finding that was recorded by hand was read from. */
const BY_HAND = "manual";

/** A type as the platform's filter takes it: the name in its program, in any case, and not the word that it shows. */
const filterWordOf = (type: string): string => (type === "portscan" ? "portsscan" : type.replaceAll("_", ""));

const { listFindings, getFinding, createFinding, updateFinding, deleteFinding } = FindingService.method;

/** How the tools of this service are answered. */
export const bindings = [
  unary(listFindings, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const route = await routeOf(platform, tenant, r.scope);
    const filters = [
      ...oneOf("finding_type", (r.orderBy === FindingOrder.SCORE ? ["cve"] : r.types).map(filterWordOf)),
      ...between("finding_created_at", r.createdAfter, r.createdBefore),
    ];
    if (r.orderBy === FindingOrder.SCORE && r.types.some((type) => type !== "cve")) {
      throw invalidArgument("types: only findings of type cve have a score; leave types out to order by score");
    }
    const common = { route, idKey: "finding_id", query: r.query, filters, piece: 500 } as const;
    const scores = r.orderBy === FindingOrder.SCORE ? await scoresIn(platform, tenant, common) : undefined;
    const order = scores === undefined ? NEWEST_FIRST : worstFirst(scores);
    const textsOf = (row: UpstreamFinding) => [row.finding_value];
    const page = await listPage<UpstreamFinding>(platform, tenant, { ...common, textsOf, order }, r);
    const rows = await withTargets(platform, tenant, page.rows);
    const known = scores ?? (await scoresOf(platform, tenant, rows));
    return {
      findings: rows.map((row) => ({ ...toFindingRow(row), ...given({ score: scoreIn(known, row) }) })),
      ...page.paging,
    };
  }),

  unary(getFinding, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    return { finding: toFinding(await findingOf(platform, tenant, r.findingId)) };
  }),

  unary(createFinding, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const { row } = await injectOf(platform, tenant, r.injectId);
    const created = await platform.rest<UpstreamFindingDetails>({
      verb: "POST",
      path: tenant.path("/findings"),
      body: {
        finding_inject_id: row.inject_id,
        finding_type: r.type,
        finding_value: r.value.trim(),
        finding_field: r.field?.trim() ?? BY_HAND,
        finding_labels: r.notes,
      },
    });
    return { finding: await shown(platform, tenant, created) };
  }),

  writingBack(
    updateFinding,
    (r) => [r.findingId],
    async (r, platform) => {
      const tenant = await tenantOf(platform, r.tenantId);
      const before = await findingOf(platform, tenant, r.findingId);
      const changed = await platform.rest<UpstreamFindingDetails>({
        verb: "PUT",
        path: tenant.path(`/findings/${before.finding_id}`),
        body: {
          finding_inject_id: before.finding_inject_id,
          finding_type: before.finding_type,
          finding_value: r.value?.trim() ?? before.finding_value,
          finding_field: r.field?.trim() ?? before.finding_field,
          finding_labels: r.clearNotes || r.notes.length > 0 ? r.notes : before.finding_labels,
        },
      });
      return { finding: await shown(platform, tenant, changed) };
    },
  ),

  unary(deleteFinding, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const { finding_id: id, finding_value: name } = await findingOf(platform, tenant, r.findingId);
    await platform.rest<void>({ verb: "DELETE", path: tenant.path(`/findings/${id}`) });
    return { deleted: { id, name } };
  }),
];

/** What a write made; it is told with the names of endpoints and of its inject where that can be read. */
async function shown(platform: Platform, tenant: TenantScope, answer: UpstreamFindingDetails) {
  const written = objectOf<UpstreamFindingDetails>(platform.server, answer, "finding_id");
  const whole = await findingOf(platform, tenant, written.finding_id).catch(() => undefined);
  return toFinding(whole ?? { ...written, finding_assets: [], finding_asset_groups: [], finding_created_at: "" });
}

/**
 * The route of a scope. A filter would not do: only the route of a simulation
 * gives the findings of one that is not its scenario's latest finished one. The
 * platform answers for an unknown object as for one without findings, so it is
 * looked up first.
 */
async function routeOf(platform: Platform, tenant: TenantScope, scope: ListFindingsRequest["scope"]): Promise<string> {
  switch (scope.case) {
    case "scenarioId": {
      const { scenario_id } = await memberOf(platform, tenant, SCENARIO, scope.value);
      return `/findings/scenarios/${scenario_id}/search`;
    }
    case "simulationId": {
      const { exercise_id } = await memberOf(platform, tenant, SIMULATION, scope.value);
      return `/findings/exercises/${exercise_id}/search`;
    }
    case "endpointId": {
      const id = scope.value.toLowerCase();
      const search: Search = {
        route: "/endpoints/search",
        idKey: "asset_id",
        filters: oneOf("asset_id", [id]),
        sorts: [{ property: "asset_name", direction: "asc" }],
      };
      const { rows } = await searchOnce(platform, tenant, search, 0, 1);
      if (rows.length === 0) throw notFound(`there is no endpoint ${id} in tenant ${tenant.name}`);
      return `/findings/endpoints/${id}/search`;
    }
    default:
      return "/findings/search";
  }
}
