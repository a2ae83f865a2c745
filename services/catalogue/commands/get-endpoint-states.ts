import { EndpointAvailability as Availability } from "#proto/catalogue/v1/endpoint_service_pb.js";
import type { Context } from "../context.js";
import { isPlatformServer, registeredPlatform } from "../platforms.js";
import { SWITCHES_ID, type SwitchesDoc } from "../store.js";
import { DEFAULT_SWITCHES } from "./switches.js";

/** The state of every endpoint that the API has tools for. */
export async function getEndpointStates(
  context: Context,
): Promise<{ endpoints: { server: string; availability: Availability }[] }> {
  const switches = (await context.store.switches.findOne({ _id: SWITCHES_ID })) ?? DEFAULT_SWITCHES;
  const endpoints = [...context.tools.keys()].map(async (server) => ({
    server,
    availability: await availabilityOf(server, switches, context),
  }));
  return { endpoints: await Promise.all(endpoints) };
}

async function availabilityOf(
  server: string,
  switches: Omit<SwitchesDoc, "_id">,
  { store, configured }: Context,
): Promise<Availability> {
  if (server === "core") {
    if (!switches.core) return Availability.CORE_OFF;
    return switches.ai ? Availability.OPEN : Availability.AI_OFF;
  }
  if (!isPlatformServer(server)) return Availability.OPEN;
  if (!switches.platformServers) return Availability.PLATFORM_SERVERS_OFF;
  const platform = registeredPlatform(server, configured, await store.platforms.findOne({ _id: server }));
  return platform === undefined ? Availability.NOT_REGISTERED : Availability.OPEN;
}
