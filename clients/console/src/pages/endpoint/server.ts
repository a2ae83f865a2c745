import { EndpointAvailability as Availability, type Endpoint } from "#api/catalogue/v1/endpoint_service_pb";
import { ConnectionState } from "#api/catalogue/v1/setting_service_pb";
import type { Status } from "../../ui/badge";

/** A server, with its public address. */
export interface Server {
  readonly endpoint: Endpoint;
  readonly url: string;
}

/** Whether clients can call it. */
export function isLive({ endpoint }: Server): boolean {
  return endpoint.availability === Availability.OPEN;
}

/** What its card says first. */
export function statusOf({ endpoint }: Server): Status {
  switch (endpoint.availability) {
    case Availability.OPEN:
      return endpoint.connection === ConnectionState.REGISTERED ? "registered" : "connected";
    case Availability.NOT_REGISTERED:
      return "absent";
    default:
      return "off";
  }
}

/** Why it cannot be used, or has no tools, and who can change that; "" where it can. */
export function hindranceOf({ endpoint }: Server): string {
  switch (endpoint.availability) {
    case Availability.PLATFORM_SERVERS_OFF:
      return "An administrator switched the platform servers off: ask one to switch them on in Settings > MCP Endpoint.";
    case Availability.CORE_OFF:
      return "An administrator has not switched this server on: ask one to do so in Settings > MCP Endpoint.";
    case Availability.AI_OFF:
      return "An administrator switched AI off, and this server needs it: ask one to switch it on in Settings > MCP Endpoint.";
    case Availability.NOT_REGISTERED:
      return "No platform is registered here: ask an administrator to register one.";
    default:
      return endpoint.tools === 0 && endpoint.reason !== "" ? `You have no tools here: ${endpoint.reason}.` : "";
  }
}
