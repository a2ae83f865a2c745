import { EndpointAvailability as Availability, type Endpoint } from "#api/catalogue/v1/endpoint_service_pb";
import { ConnectionState } from "#api/catalogue/v1/setting_service_pb";
import { onDay } from "../../format";
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
      return `${whoSwitched(endpoint)} switched the platform servers off${whenSwitched(endpoint)}. ${ASK}`;
    case Availability.CORE_OFF:
      return endpoint.switchedOffAt === undefined
        ? `No administrator has switched this server on yet. ${ASK}`
        : `${whoSwitched(endpoint)} switched this server off${whenSwitched(endpoint)}. ${ASK}`;
    case Availability.AI_OFF:
      return `${whoSwitched(endpoint)} switched AI off${whenSwitched(endpoint)}, and this server needs it. ${ASK}`;
    case Availability.NOT_REGISTERED:
      return "No platform is registered here. Ask an administrator to register one.";
    default:
      if (endpoint.reason === "") return "";
      return `${endpoint.tools === 0 ? "You have no tools here" : "You have no tool here but whoami"}: ${endpoint.reason}.`;
  }
}

const ASK = "Ask an administrator to switch it on in Settings > MCP Endpoint.";

function whoSwitched({ switchedOffBy }: Endpoint): string {
  return switchedOffBy || "An administrator";
}

function whenSwitched({ switchedOffAt }: Endpoint): string {
  return switchedOffAt === undefined ? "" : ` on ${onDay(switchedOffAt)}`;
}
