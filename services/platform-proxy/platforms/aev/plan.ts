import type { Platform } from "../../platform.js";
import { memberOf, SCENARIO, SIMULATION } from "./member.js";
import type { TenantScope } from "./tenant.js";

/** What lies below a scenario or a simulation is found through it. */
export interface Plan {
  /** The route of the plan itself, such as /scenarios/{id}. */
  readonly route: string;
  readonly noun: "scenario" | "simulation";
  readonly id: string;
  /** When a simulation starts, past or planned; undefined for none, and for a scenario. */
  readonly startsAt?: string | undefined;
  /** It has started, so that the platform's own times are true. */
  readonly hasStarted?: boolean;
}

/**
 * The scenario or simulation that a request names: one that there is in the
 * tenant. The platform answers for an unknown one as for an empty one.
 *
 * @throws ConnectError not_found, or permission_denied where the caller may not read it.
 */
export async function planOf(
  platform: Platform,
  tenant: TenantScope,
  parent: { readonly case?: "scenarioId" | "simulationId" | undefined; readonly value?: string | undefined },
): Promise<Plan> {
  if (parent.case === "simulationId") {
    const row = await memberOf(platform, tenant, SIMULATION, parent.value as string);
    const { exercise_id: id, exercise_start_date: start, exercise_status: status } = row;
    const hasStarted = status !== "SCHEDULED";
    return { route: `/exercises/${id}`, noun: "simulation", id, hasStarted, ...(start != null && { startsAt: start }) };
  }
  const { scenario_id: id } = await memberOf(platform, tenant, SCENARIO, parent.value as string);
  return { route: `/scenarios/${id}`, noun: "scenario", id };
}
