import type { Origins } from "./admission/origins.js";
import { BAD_HOST, OVERLOADED, unknownEndpointRefusal } from "./admission/refusals.js";
import type { Endpoints } from "./catalogue/endpoints.js";
import { type Exchange, JSON_HEADERS } from "./http/exchange.js";
import type { Pages } from "./http/pages.js";
import { readAndRefuse, refuse } from "./mcp/refuse.js";
import type { Serve } from "./mcp/serve.js";

/** Where requests go from the front door, and what keeps them out. */
export interface FrontDoorOptions {
  /** The path of the public base URL, without a trailing slash. */
  readonly base: string;
  /** Hosts that requests may name; absent for any. */
  readonly hosts: readonly string[] | undefined;
  /** Whether so much is in flight that nothing more is read. */
  readonly overloaded: () => boolean;
  readonly endpoints: Endpoints;
  readonly origins: Origins;
  readonly serve: Serve;
  readonly pages: Pages;
}

/** Answered under overload too, and to probes that know no host name. */
const HEALTH = new Set(["/healthz", "/readyz"]);

/** Builds what every request meets first: it goes to an MCP endpoint, to a page, or nowhere. */
export function createFrontDoor(options: FrontDoorOptions): (exchange: Exchange) => void {
  const { base, overloaded, endpoints, origins, serve, pages } = options;
  const hosts = options.hosts && new Set(options.hosts.map((host) => host.toLowerCase()));
  const unknown = unknownEndpointRefusal([...new Set(endpoints.all.map(({ path }) => path))]);
  const mcp = `${base}/mcp/`;

  return (exchange) => {
    const { path, headers } = exchange;
    if (HEALTH.has(path)) return pages.serve(exchange);
    // Answered before anything is read or parsed.
    if (overloaded()) return refuse(exchange, OVERLOADED, JSON_HEADERS);
    if (hosts !== undefined && !hosts.has(headers.host?.toLowerCase() ?? "")) {
      return refuse(exchange, BAD_HOST, JSON_HEADERS);
    }
    const endpoint = endpoints.at(path, headers.host);
    if (endpoint !== undefined) return serve(exchange, endpoint);
    if (path.startsWith(mcp)) return readAndRefuse(exchange, unknown, origins.headersFor(headers.origin));
    pages.serve(exchange);
  };
}
