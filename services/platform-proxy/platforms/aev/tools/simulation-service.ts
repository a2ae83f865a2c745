import { SimulationStatus } from "#proto/aev/v1/simulation_pb.js";
import { SimulationOrder, SimulationService } from "#proto/aev/v1/simulation_service_pb.js";
import { failedPrecondition } from "../../../../shared/rpc/errors.js";
import { unary } from "../../../binding.js";
import { listOf, objectOf } from "../../../lib/answers.js";
import { enumOf } from "../../../lib/words.js";
import type { Platform } from "../../../platform.js";
import { labelFilter, labelNames } from "../labels.js";
import { memberOf, SCENARIO, SIMULATION } from "../member.js";
import { toResult, type UpstreamResult } from "../results.js";
import { between, oneOf, type Search, type Sort, searchPage } from "../search.js";
import { toSimulation, toSimulationRow } from "../simulation.js";
import { type TenantScope, tenantOf } from "../tenant.js";
import type { UpstreamSimulation } from "../upstream.js";

const NAME: Sort = { property: "exercise_name", direction: "asc" };
const UPDATED: Sort = { property: "exercise_updated_at", direction: "desc" };
const STARTED: Sort = { property: "exercise_start_date", direction: "desc", nullHandling: "NULLS_LAST" };

const SORTS: Readonly<Record<SimulationOrder, readonly [Sort, ...Sort[]]>> = {
  [SimulationOrder.UNSPECIFIED]: [UPDATED, NAME],
  [SimulationOrder.UPDATED]: [UPDATED, NAME],
  [SimulationOrder.STARTED]: [STARTED, UPDATED],
  [SimulationOrder.NAME]: [NAME, UPDATED],
};

/** What may follow a state; anything else the platform answers with an internal error. */
const NEXT: Readonly<Partial<Record<SimulationStatus, readonly SimulationStatus[]>>> = {
  [SimulationStatus.SCHEDULED]: [SimulationStatus.RUNNING],
  [SimulationStatus.RUNNING]: [SimulationStatus.PAUSED, SimulationStatus.CANCELED],
  [SimulationStatus.PAUSED]: [SimulationStatus.RUNNING, SimulationStatus.CANCELED],
};

const { searchSimulations, getSimulation, getSimulationResults, setSimulationStatus } = SimulationService.method;

/** How the tools of this service are answered. */
export const bindings = [
  unary(searchSimulations, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    // An unknown scenario would look like one without simulations.
    if (r.scenarioId !== undefined) await memberOf(platform, tenant, SCENARIO, r.scenarioId);
    const search: Search = {
      route: "/exercises/search",
      idKey: "exercise_id",
      query: r.query,
      filters: [
        ...oneOf(
          "exercise_status",
          r.statuses.map((status) => SimulationStatus[status] as string),
        ),
        ...oneOf("exercise_scenario", r.scenarioId === undefined ? [] : [r.scenarioId.toLowerCase()]),
        ...(await labelFilter(platform, tenant, "exercise_tags", r.labels)),
        ...between("exercise_start_date", r.startedAfter, r.startedBefore),
      ],
      sorts: SORTS[r.orderBy ?? SimulationOrder.UPDATED],
    };
    const page = await searchPage<UpstreamSimulation>(platform, tenant, search, r);
    return { simulations: page.rows.map(toSimulationRow), ...page.paging };
  }),

  unary(getSimulation, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    return { simulation: await shown(platform, tenant, await memberOf(platform, tenant, SIMULATION, r.simulationId)) };
  }),

  unary(getSimulationResults, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const simulation = await memberOf(platform, tenant, SIMULATION, r.simulationId);
    const path = tenant.path(`/exercises/${simulation.exercise_id}/results`);
    const results = listOf<UpstreamResult>(platform.server, await platform.rest({ verb: "GET", path }));
    return {
      name: simulation.exercise_name,
      status: enumOf(SimulationStatus, simulation.exercise_status),
      results: results.map(toResult),
    };
  }),

  unary(setSimulationStatus, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const simulation = await memberOf(platform, tenant, SIMULATION, r.simulationId);
    const now: SimulationStatus = enumOf(SimulationStatus, simulation.exercise_status);
    if (now === r.status) return { simulation: await shown(platform, tenant, simulation), changed: false };
    const next = NEXT[now] ?? [];
    if (!next.includes(r.status)) {
      const word = (status: SimulationStatus) => (SimulationStatus[status] as string).toLowerCase();
      throw failedPrecondition(
        `status: the simulation is ${word(now)}, from where it cannot become ${word(r.status)}; ${
          next.length === 0 ? "it is over, launch its scenario again" : `it can become ${next.map(word).join(" or ")}`
        }`,
      );
    }
    const changed = await platform.rest<UpstreamSimulation>({
      verb: "PUT",
      path: tenant.path(`/exercises/${simulation.exercise_id}/status`),
      body: { exercise_status: SimulationStatus[r.status] },
    });
    return { simulation: await shown(platform, tenant, changed), changed: true };
  }),
];

async function shown(platform: Platform, tenant: TenantScope, answer: UpstreamSimulation) {
  const row = objectOf<UpstreamSimulation>(platform.server, answer, SIMULATION.idKey);
  return toSimulation(row, await labelNames(platform, tenant, [row.exercise_tags]));
}
