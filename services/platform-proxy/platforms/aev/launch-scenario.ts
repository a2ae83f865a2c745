import { setTimeout as sleep } from "node:timers/promises";
import { ConnectError } from "@connectrpc/connect";
import { LaunchScenarioResultSchema, ScenarioService } from "#proto/aev/v1/scenario_service_pb.js";
import { canceled } from "../../../shared/rpc/errors.js";
import { serverStream } from "../../binding.js";
import { objectOf } from "../../lib/answers.js";
import type { Platform } from "../../platform.js";
import { labelNames } from "./labels.js";
import { memberOf, readById, SCENARIO, SIMULATION } from "./member.js";
import { searchOnce } from "./search.js";
import { toSimulation } from "./simulation.js";
import { type TenantScope, tenantOf } from "./tenant.js";
import type { UpstreamInjectResult, UpstreamSimulation } from "./upstream.js";

/** How long the start is followed, in milliseconds: whole answers within a minute. */
const FOLLOW_MS = 50_000;
/** Between two looks; the first come sooner. */
const PAUSES_MS = [1_000, 2_000, 4_000, 6_000];
/** Rows of injects are large, and those that moved last come first: a few show whether any has. */
const GLANCE = 5;
const ALL = 100;

/**
 * Launches a scenario and follows the simulation until an inject is at work.
 * The platform starts simulations on the full minute, so up to sixty seconds
 * pass before anything happens; what is not seen by then the result says. Once
 * launched, only the caller's leaving ends in an error.
 */
export const launchScenario = serverStream(
  ScenarioService.method.launchScenario,
  LaunchScenarioResultSchema,
  async function* (r, platform) {
    const began = Date.now();
    const elapsed = () => Date.now() - began;
    const tenant = await tenantOf(platform, r.tenantId);
    const scenario = await memberOf(platform, tenant, SCENARIO, r.scenarioId);
    const names = await labelNames(platform, tenant, [scenario.scenario_tags]);
    const path = tenant.path(`/scenarios/${scenario.scenario_id}/exercise/running`);
    const answer = await platform.rest<unknown>({ verb: "POST", path });
    const launched = objectOf<UpstreamSimulation>(platform.server, answer, SIMULATION.idKey);
    const report = (message: string) => ({ done: Math.round(elapsed() / 100) / 10, message });
    yield report(`launched simulation ${launched.exercise_id}; ${startOf(launched)}`);

    let seen: Seen = { simulation: launched, injects: undefined };
    let lost: string | undefined;
    try {
      seen = await look(platform, tenant, launched, GLANCE);
      for (let looks = 0; !isUnderWay(seen) && elapsed() < FOLLOW_MS; looks++) {
        const pause = PAUSES_MS[Math.min(looks, PAUSES_MS.length - 1)] as number;
        await sleep(Math.max(0, Math.min(pause, FOLLOW_MS - elapsed())), undefined, { signal: platform.signal });
        seen = await look(platform, tenant, seen.simulation, GLANCE);
        const start = isUnderWay(seen) ? "" : `; ${startOf(seen.simulation)}`;
        yield report(`the status is ${seen.simulation.exercise_status.toLowerCase()}${start}`);
      }
      seen = await look(platform, tenant, seen.simulation, ALL);
    } catch (error) {
      if (platform.signal.aborted) {
        throw canceled(
          `the call was cancelled; simulation ${launched.exercise_id} was launched before and continues`,
          error,
        );
      }
      if (!(error instanceof ConnectError)) throw error;
      // What was launched cannot be called back: it is told, although it can be followed no longer.
      lost = error.rawMessage;
    }

    const { waiting, running, done } = countOf(seen);
    return {
      simulation: toSimulation(seen.simulation, names),
      started: running + done > 0,
      injectsWaiting: waiting,
      injectsRunning: running,
      injectsDone: done,
      remaining: remainingOf(seen, running + done > 0, lost),
    };
  },
);

/** A simulation as it was last seen. */
interface Seen {
  readonly simulation: UpstreamSimulation;
  /** Undefined where they could not be read. */
  readonly injects: { readonly rows: readonly UpstreamInjectResult[]; readonly totalSize: number } | undefined;
}

async function look(platform: Platform, tenant: TenantScope, before: UpstreamSimulation, count: number): Promise<Seen> {
  const route = `/exercises/${before.exercise_id}/injects/search`;
  const sorts = [{ property: "inject_updated_at", direction: "desc" }] as const;
  const search = { route, idKey: "inject_id", sorts };
  const injects = await searchOnce<UpstreamInjectResult>(platform, tenant, search, 0, count);
  const simulation = await readById(platform, tenant, SIMULATION, before.exercise_id);
  return { simulation: simulation ?? before, injects };
}

function isUnderWay(seen: Seen): boolean {
  const { running, done } = countOf(seen);
  return seen.simulation.exercise_status !== "RUNNING" || seen.injects?.totalSize === 0 || running + done > 0;
}

function countOf({ injects }: Seen): { waiting: number; running: number; done: number } {
  const count = { waiting: 0, running: 0, done: 0 };
  for (const { inject_status: status } of injects?.rows ?? []) {
    const name = status?.status_name ?? "DRAFT";
    if (name === "DRAFT") count.waiting++;
    else if (name === "QUEUING" || name === "EXECUTING" || name === "PENDING") count.running++;
    else count.done++;
  }
  return count;
}

function remainingOf({ simulation, injects }: Seen, started: boolean, lost: string | undefined): string {
  const { exercise_id, exercise_status } = simulation;
  const tools = `get_simulation ${exercise_id} shows its progress, list_injects shows each inject, and get_simulation_results shows the results`;
  if (injects === undefined || lost !== undefined) {
    return `the simulation was launched, but its progress could not be read: ${lost}. ${tools}`;
  }
  if (injects.totalSize === 0) {
    return "the simulation has no injects, so nothing will run; add injects to its scenario with create_inject and launch the scenario again";
  }
  if (exercise_status !== "RUNNING") {
    return `the simulation is ${exercise_status.toLowerCase()}, so no inject starts now. ${tools}`;
  }
  if (started) {
    return `the simulation has ${injects.totalSize} injects; those that have not run yet run at their times, and each result decides its expectation when it arrives. ${tools}; set_simulation_status ends the simulation`;
  }
  return `${startOf(simulation)}; its ${injects.totalSize} injects run at their times. ${tools}; set_simulation_status cancels the simulation`;
}

/** What is to be said of the start of a simulation of which no inject is at work. */
function startOf({ exercise_start_date: start }: UpstreamSimulation): string {
  if (start == null) return "the simulation starts at the next full minute";
  return Date.parse(start) > Date.now()
    ? `the simulation starts at ${start}`
    : `the simulation started at ${start}, and no inject is running yet`;
}
