import { EndpointAvailability as Availability } from "#proto/catalogue/v1/endpoint_service_pb.js";
import { CORE, isPlatformServer } from "../../shared/platforms.js";
import type { Context } from "../context.js";
import { servingPlatform } from "../platforms.js";
import { readSwitches, type Switches } from "../switches.js";

/** The state of every endpoint that the API has tools for. */
export async function getEndpointStates(
  context: Context,
): Promise<{ endpoints: { server: string; availability: Availability }[] }> {
  const switches = await readSwitches(context);
  const endpoints = [...context.tools.keys()].map(async (server) => ({
    server,
    availability: await availabilityOf(context, server, switches),
  }));
  return { endpoints: await Promise.all(endpoints) };
}

/** Whether an endpoint serves. */
export async function availabilityOf(context: Context, server: string, switches: Switches): Promise<Availability> {
  if (server === CORE.name) {
    if (!switches.core) return Availability.CORE_OFF;
    return switches.ai ? Availability.OPEN : Availability.AI_OFF;
  }
  if (!isPlatformServer(server)) return Availability.OPEN;
  if (!switches.platformServers) return Availability.PLATFORM_SERVERS_OFF;
  const platform = await servingPlatform(context, server);
  return platform === undefined ? Availability.NOT_REGISTERED : Availability.OPEN;
}
