import { SimulationStatus } from "#proto/aev/v1/simulation_pb.js";
import { SimulationOrder, SimulationService } from "#proto/aev/v1/simulation_service_pb.js";
import { failedPrecondition } from "../../../../shared/rpc/errors.js";
import { unary } from "../../../binding.js";
import { listOf, objectOf } from "../../../lib/answers.js";
import { enumOf } from "../../../lib/words.js";
import type { Platform } from "../../../platform.js";
import { labelIds, labelNames } from "../labels.js";
import { havingOne, instantKey, listPage, nameKey, type Order } from "../list.js";
import { memberOf, readById, SCENARIO, SIMULATION } from "../member.js";
import { toResult, type UpstreamResult } from "../results.js";
import { between, oneOf } from "../search.js";
import { toSimulation, toSimulationRow } from "../simulation.js";
import { type TenantScope, tenantOf } from "../tenant.js";
import type { UpstreamSimulation } from "../upstream.js";

const BY_CHANGE: Order<UpstreamSimulation> = {
  sorts: [{ property: "exercise_updated_at", direction: "desc" }],
  keyOf: (row) => instantKey(row.exercise_updated_at),
};

const ORDERS: Readonly<Record<SimulationOrder, Order<UpstreamSimulation>>> = {
  [SimulationOrder.UNSPECIFIED]: BY_CHANGE,
  [SimulationOrder.UPDATED]: BY_CHANGE,
  [SimulationOrder.STARTED]: {
    sorts: [{ property: "exercise_start_date", direction: "desc" }],
    keyOf: (row) => instantKey(row.exercise_start_date),
    // To the platform what has no start is the latest.
    isOurs: true,
  },
  [SimulationOrder.NAME]: {
    sorts: [{ property: "exercise_name", direction: "asc" }],
    keyOf: (row) => nameKey(row.exercise_name),
    isOurs: true,
  },
};

/** What may follow a state; anything else the platform answers with an internal error. */
const NEXT: Readonly<Partial<Record<SimulationStatus, readonly SimulationStatus[]>>> = {
  [SimulationStatus.SCHEDULED]: [SimulationStatus.RUNNING],
  [SimulationStatus.RUNNING]: [SimulationStatus.PAUSED, SimulationStatus.CANCELED],
  [SimulationStatus.PAUSED]: [SimulationStatus.RUNNING, SimulationStatus.CANCELED],
};

const { listSimulations, getSimulation, getSimulationResults, setSimulationStatus } = SimulationService.method;

/** How the tools of this service are answered. */
export const bindings = [
  unary(listSimulations, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    // An unknown scenario would look like one without simulations.
    if (r.scenarioId !== undefined) await memberOf(platform, tenant, SCENARIO, r.scenarioId);
    const page = await listPage<UpstreamSimulation>(
      platform,
      tenant,
      {
        route: "/exercises/search",
        idKey: "exercise_id",
        query: r.query,
        textsOf: (row) => [row.exercise_name],
        having: havingOne((row) => row.exercise_tags, await labelIds(platform, tenant, r.labels)),
        filters: [
          ...oneOf(
            "exercise_status",
            r.statuses.map((status) => SimulationStatus[status] as string),
          ),
          ...oneOf("exercise_scenario", r.scenarioId === undefined ? [] : [r.scenarioId.toLowerCase()]),
          ...between("exercise_start_date", r.startedAfter, r.startedBefore),
        ],
        order: ORDERS[r.orderBy ?? SimulationOrder.UPDATED],
        piece: 200,
      },
      r,
    );
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
    const before: SimulationStatus = enumOf(SimulationStatus, simulation.exercise_status);
    if (before === r.status) return { simulation: await shown(platform, tenant, simulation), changed: false };
    const next = NEXT[before] ?? [];
    if (!next.includes(r.status)) {
      const word = (status: SimulationStatus) => (SimulationStatus[status] as string).toLowerCase();
      throw failedPrecondition(
        `status: the simulation is ${word(before)}, and cannot become ${word(r.status)}; ${
          next.length === 0
            ? "it has ended, so launch its scenario again"
            : `it can become ${next.map(word).join(" or ")}`
        }`,
      );
    }
    const changed = await platform.rest<UpstreamSimulation>({
      verb: "PUT",
      path: tenant.path(`/exercises/${simulation.exercise_id}/status`),
      body: { exercise_status: SimulationStatus[r.status] },
    });
    // The answer has times that are not kept so: read by id they are of whole seconds.
    const kept = await readById(platform, tenant, SIMULATION, simulation.exercise_id).catch(() => undefined);
    const now = { ...changed, ...kept, exercise_status: changed.exercise_status };
    return { simulation: await shown(platform, tenant, now), changed: true };
  }),
];

async function shown(platform: Platform, tenant: TenantScope, answer: UpstreamSimulation) {
  const row = objectOf<UpstreamSimulation>(platform.server, answer, SIMULATION.idKey);
  return toSimulation(row, await labelNames(platform, tenant, [row.exercise_tags]));
}
