import { setTimeout as sleep } from "node:timers/promises";
import { LaunchScenarioResultSchema, ScenarioService } from "#proto/aev/v1/scenario_service_pb.js";
import { canceled } from "../../../shared/errors.js";
import { stream } from "../../binding.js";
import type { Platform } from "../../platform.js";
import { memberOf, readById, SCENARIO, SIMULATION } from "./member.js";
import { searchPage } from "./page.js";
import { toSimulation } from "./simulation.js";
import { tagNames } from "./tags.js";
import { type TenantScope, tenantOf } from "./tenant.js";
import type { UpstreamInjectResult, UpstreamSimulation } from "./upstream.js";

/** How long the start is followed, in milliseconds: whole answers within a minute. */
const FOLLOW_MS = 50_000;
/** Between two looks; the first come sooner. */
const PAUSES_MS = [1_000, 2_000, 4_000, 6_000];
/** Rows of injects are large, and those that moved last come first: a few show whether any has. */
const GLANCE = 5;

/**
 * Launches a scenario and follows the simulation until an inject is at work.
 * The platform starts simulations on the full minute, so up to sixty seconds
 * pass before anything happens; what is not seen by then the result says.
 */
export const launchScenario = stream(
  ScenarioService.method.launchScenario,
  LaunchScenarioResultSchema,
  async function* (r, platform) {
    const began = Date.now();
    const seconds = () => Math.round((Date.now() - began) / 1_000);
    const tenant = await tenantOf(platform, r.tenantId);
    const scenario = await memberOf(platform, tenant, SCENARIO, r.scenarioId);
    const path = tenant.path(`/scenarios/${scenario.scenario_id}/exercise/running`);
    let simulation = await platform.rest<UpstreamSimulation>({ verb: "POST", path });
    const starts = simulation.exercise_start_date ?? "the next full minute";
    yield { done: seconds(), message: `launched simulation ${simulation.exercise_id}; it starts at ${starts}` };

    let injects = await readInjects(platform, tenant, simulation.exercise_id, GLANCE);
    for (let look = 0; !isUnderWay(simulation, injects) && Date.now() - began < FOLLOW_MS; look++) {
      const pause = PAUSES_MS[Math.min(look, PAUSES_MS.length - 1)] as number;
      await pauseFor(Math.min(pause, FOLLOW_MS - (Date.now() - began)), platform.signal);
      simulation = (await readById(platform, tenant, SIMULATION, simulation.exercise_id)) ?? simulation;
      injects = await readInjects(platform, tenant, simulation.exercise_id, GLANCE);
      const state = isUnderWay(simulation, injects) ? "under way" : `waiting for its start at ${starts}`;
      yield { done: seconds(), message: `${simulation.exercise_status.toLowerCase()}, ${state}` };
    }

    injects = await readInjects(platform, tenant, simulation.exercise_id, 100);
    const { waiting, running, done } = countOf(injects.rows);
    return {
      simulation: toSimulation(simulation, await tagNames(platform, tenant, [simulation.exercise_tags])),
      started: running + done > 0,
      injectsWaiting: waiting,
      injectsRunning: running,
      injectsDone: done,
      remaining: remainingOf(simulation, injects.totalSize, running + done > 0),
    };
  },
);

type Injects = { readonly rows: readonly UpstreamInjectResult[]; readonly totalSize: number };

function readInjects(platform: Platform, tenant: TenantScope, id: string, pageSize: number): Promise<Injects> {
  return searchPage<UpstreamInjectResult>(
    platform,
    tenant,
    { route: `/exercises/${id}/injects/search`, sorts: [{ property: "inject_updated_at", direction: "desc" }] },
    { pageSize },
  );
}

function isUnderWay(simulation: UpstreamSimulation, injects: Injects): boolean {
  return (
    simulation.exercise_status !== "RUNNING" ||
    injects.totalSize === 0 ||
    countOf(injects.rows).waiting < injects.rows.length
  );
}

function countOf(injects: readonly UpstreamInjectResult[]): { waiting: number; running: number; done: number } {
  const count = { waiting: 0, running: 0, done: 0 };
  for (const { inject_status: status } of injects) {
    const name = status?.status_name ?? "DRAFT";
    if (name === "DRAFT") count.waiting++;
    else if (name === "QUEUING" || name === "EXECUTING" || name === "PENDING") count.running++;
    else count.done++;
  }
  return count;
}

function remainingOf(
  { exercise_id, exercise_status, exercise_start_date }: UpstreamSimulation,
  injects: number,
  started: boolean,
): string {
  if (injects === 0)
    return `the simulation has no injects, so nothing will run; add some to its scenario and launch it again`;
  const tools = `get_simulation ${exercise_id} tells how far it is, search_injects what each inject does, get_simulation_results what it shows`;
  if (exercise_status !== "RUNNING") return `nothing; the simulation is ${exercise_status.toLowerCase()}. ${tools}`;
  if (started)
    return `the rest of ${injects} injects run at their times and expectations are decided as answers come in. ${tools}; set_simulation_status ends it`;
  return `the simulation starts at ${exercise_start_date ?? "the next full minute"}; its ${injects} injects wait for their times. ${tools}; set_simulation_status cancels it`;
}

async function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(Math.max(0, ms), undefined, { signal });
  } catch (error) {
    throw canceled("the call was cancelled; the simulation that was launched goes on", error);
  }
}
