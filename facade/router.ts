import type { AllowsHost } from "./admission/hosts.js";
import type { Origins } from "./admission/origins.js";
import { BAD_HOST, malformedRefusal, unknownEndpointRefusal } from "./admission/refusals.js";
import type { RequestSlots } from "./admission/slots.js";
import type { Unauthenticated } from "./admission/unauthenticated.js";
import type { Endpoints } from "./catalogue/endpoints.js";
import { type Exchange, JSON_HEADERS } from "./http/exchange.js";
import type { Pages } from "./http/pages.js";
import { answerRefusal, readAndRefuse } from "./mcp/refuse.js";
import type { Serve } from "./mcp/serve.js";

/** Where requests go, and what refuses them. */
export interface RouterOptions {
  /** The path of the public base URL, without a trailing slash. */
  readonly base: string;
  readonly allowsHost: AllowsHost;
  readonly slots: RequestSlots;
  readonly unauthenticated: Unauthenticated;
  readonly endpoints: Endpoints;
  readonly origins: Origins;
  readonly serve: Serve;
  readonly pages: Pages;
}

/** Answered to probes that know no host name. */
const HEALTH = new Set(["/healthz", "/readyz"]);

/** Builds what every request meets first: it sends a request to an MCP endpoint or to a page, or refuses it. */
export function createRouter(options: RouterOptions): (exchange: Exchange) => void {
  const { base, allowsHost, slots, unauthenticated, endpoints, origins, serve, pages } = options;
  const unknown = unknownEndpointRefusal([...new Set(endpoints.all.map(({ path }) => path))]);
  const mcp = `${base}/mcp/`;

  return (exchange) => {
    const { path, headers, malformed } = exchange;
    if (malformed !== undefined) return refuseMalformed(exchange, malformed);
    if (HEALTH.has(path)) return pages.serve(exchange);
    if (!allowsHost(headers.host)) {
      unauthenticated.count(exchange);
      answerRefusal(exchange, BAD_HOST, JSON_HEADERS);
      return;
    }
    const endpoint = endpoints.at(path, headers.host);
    if (endpoint !== undefined) return serve(exchange, endpoint);
    if (path.startsWith(mcp)) {
      unauthenticated.count(exchange);
      readAndRefuse(exchange, unknown, origins.headersFor(headers.origin), slots);
      return;
    }
    pages.serve(exchange);
  };
}

/**
 * Refuses not at once: what follows in the same packet is then taken for a
 * request that comes before its answer, at which the parser ends the connection.
 */
function refuseMalformed(exchange: Exchange, fault: string): void {
  exchange.postpone();
  answerRefusal(exchange, malformedRefusal(fault), JSON_HEADERS);
}
