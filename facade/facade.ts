import type { FileRegistry } from "@bufbuild/protobuf";
import type { BearerCredentials } from "../services/shared/credentials/credentials.js";
import type { Rate } from "../services/shared/limits/bucket.js";
import { Failures } from "../services/shared/limits/failures.js";
import type { Shares } from "../services/shared/limits/shares.js";
import { gauge } from "../services/shared/metrics/metrics.js";
import type { Log } from "../services/shared/process/log.js";
import type { Credential } from "../services/shared/rpc/call.js";
import type { Dispatch } from "../services/shared/rpc/dispatch.js";
import { readTools, type Tool } from "../services/shared/tools/tools.js";
import { addressBehind, BAD_TOKENS, createAdmit } from "./admission/admit.js";
import { createEnter } from "./admission/enter.js";
import { createHosts, isLoopback } from "./admission/hosts.js";
import { createOrigins, type Origins } from "./admission/origins.js";
import { sessionsFrom } from "./admission/sessions.js";
import { createRequestSlots } from "./admission/slots.js";
import { createUnauthenticated } from "./admission/unauthenticated.js";
import { createEndpointStates } from "./catalogue/endpoint-states.js";
import { layOutEndpoints } from "./catalogue/endpoints.js";
import { scopesOf, serversOf } from "./catalogue/servers.js";
import { createVisibleTools } from "./catalogue/visible-tools.js";
import type { EdgeName } from "./config.js";
import type { Edge } from "./http/edge.js";
import { chooseEdge, loadEdge } from "./http/edges.js";
import { createPages } from "./http/pages.js";
import type { Address } from "./http/route.js";
import { authorizationServerRoutes } from "./http/routes/authorization-server.js";
import { type ConsoleFiles, consoleRoutes } from "./http/routes/console.js";
import { healthRoutes } from "./http/routes/health.js";
import { otlpRoutes } from "./http/routes/otlp.js";
import { platformIssuerRoutes } from "./http/routes/platform-issuer.js";
import { registrationRoutes } from "./http/routes/platform-registration.js";
import { resourceMetadataRoutes } from "./http/routes/resource-metadata.js";
import { rpcRoutes } from "./http/routes/rpc.js";
import { createCallAbsent } from "./mcp/absent-tool.js";
import { clientNameOf } from "./mcp/client-name.js";
import { createDeadlines } from "./mcp/deadlines.js";
import { createServe, ENDPOINT_METHODS } from "./mcp/serve.js";
import type { McpContext } from "./mcp/server.js";
import { createSlowCalls } from "./mcp/slow-calls.js";
import { createCallTool } from "./mcp/tool-call.js";
import { createRouter } from "./router.js";

/** What bounds one façade worker. */
export interface Limits {
  /** Requests in flight of those who were let in; one more is answered 503 before its body is read, a key's beyond its share 429. */
  readonly inFlight: number;
  /** Connections at once; one more is closed as it comes. Absent for what a worker can bear. */
  readonly connections?: number;
  /** How long a body may take from its first piece on, in milliseconds; absent for half a minute. */
  readonly bodyMs?: number;
  /** How long a tool may take, in milliseconds. */
  readonly callMs: number;
  /** From how many milliseconds on a call is logged as slow; absent and 0 for none. */
  readonly slowMs?: number;
  /** Different bad tokens an address may try a minute. */
  readonly badTokens: number;
  /** Requests of unauthenticated callers at an address before their answers wait; absent for what an office sends. */
  readonly unauthenticated?: Rate;
}

/** What a façade worker is built of. */
export interface FacadeOptions {
  /** The way to the services, in this process or another. */
  readonly dispatch: Dispatch;
  /** The façade's own credential, for what it asks on nobody's behalf. */
  readonly self: Credential;
  readonly credentials: BearerCredentials;
  /** The image of the whole API: its tools are what is served. */
  readonly image: FileRegistry;
  /** The public base URL, with or without a path. */
  readonly baseUrl: URL;
  /** Further public URLs of endpoints, by server. */
  readonly publicUrls?: Readonly<Record<string, URL>>;
  /** The issuer of an authorization server of others; undefined if the embedded one issues tokens. */
  readonly externalIssuer?: string | undefined;
  /** The name that users see. */
  readonly serviceName: string;
  /** The environment variable that the console's configurations name. */
  readonly apiKeyVariable: string;
  readonly version: string;
  /** Web origins that may call, besides the base URL's own. */
  readonly origins?: readonly string[];
  /** Hosts that requests may name in addition to those of the public URLs; absent on a loopback address for its names. */
  readonly hosts?: readonly string[] | undefined;
  /** How many proxies stand in front and append to X-Forwarded-For. */
  readonly proxies?: number;
  /** Why the service cannot serve now; empty when it can. */
  readonly ready: () => Promise<readonly string[]>;
  readonly limits: Limits;
  /** The files of the console; absent if it is not built. */
  readonly console?: ConsoleFiles | undefined;
  /** The HTTP server to listen with; absent for µWebSockets.js where it loads, and else that of Node. */
  readonly edge?: EdgeName | undefined;
  /** The share of calls without a trace context that are traced, from 0 to 1; absent for none. */
  readonly traceRatio?: number;
  /** What callers have of this process, on every port. */
  readonly shares: Shares;
  readonly log: Log;
}

/** One façade worker. */
export interface Facade {
  /** The MCP servers that it publishes. */
  readonly servers: readonly string[];
  /** Everything that it answers at: the tables that requests are routed by. */
  readonly routes: readonly Address[];
  /** Serves; resolves to the port. @throws Error where the port cannot be had. */
  listen(host: string, port: number, options?: { readonly exclusive?: boolean }): Promise<number>;
  /** Takes no new connections and lets what is in flight finish, up to the grace; then cuts what is left. */
  drain(graceMs: number): Promise<void>;
}

const DRAIN_POLL_MS = 20;
/**
 * For a connection that is kept open, to be used once more and hear that it closes: a client whose request meets the
 * end of its connection cannot know what became of it.
 */
const LINGER_MS = 500;
const LAST_WORDS_MS = 200;

/** Builds a façade from the API's image; it serves once it listens. */
export async function createFacade(options: FacadeOptions): Promise<Facade> {
  const { dispatch, self, credentials, image, baseUrl, limits, shares, log, version } = options;
  const { serviceName, apiKeyVariable } = options;
  const base = baseUrl.pathname.replace(/\/$/, "");
  const tools = readTools(image);
  const servers = serversOf(tools, serviceName, version);
  const endpoints = layOutEndpoints({
    baseUrl,
    servers: new Map([...servers].map(([name, server]) => [name, scopesOf(server)])),
    publicUrls: options.publicUrls ?? {},
  });
  const origins = originsOf(options, tools);
  const { proxies = 0 } = options;
  const addressOf = addressBehind(proxies);
  const unauthenticated = createUnauthenticated({ addressOf, rate: limits.unauthenticated });
  const badTokens = new Failures({ ...BAD_TOKENS, budget: limits.badTokens });
  const admit = createAdmit({ credentials, badTokens, addressOf });
  const slots = createRequestSlots({ inFlight: limits.inFlight, addressOf });
  const enter = createEnter({ admit, slots, shares });
  const admitPeople = createAdmit({ credentials, badTokens, addressOf, sessionOf: sessionsFrom(baseUrl) });
  const enterPeople = createEnter({ admit: admitPeople, slots, shares });
  const visible = createVisibleTools({ dispatch, credentials, servers });
  const states = createEndpointStates({ dispatch, self, credentials, log });
  const deadlines = createDeadlines(limits.callMs);
  const isRevoked: McpContext["isRevoked"] = (known) => credentials.isRevoked(known);
  const serve = createServe({
    admit,
    slots,
    unauthenticated,
    states,
    origins,
    shares,
    servers,
    context: {
      isRevoked,
      connected: (known, info) => credentials.connected(known, clientNameOf(info)),
      view: ({ known, server, options }) => visible.of(known, server.name, options),
      callAbsent: createCallAbsent({ dispatch, shares, slots: slots.calls, isRevoked, log }),
      callTool: createCallTool({
        ...{ dispatch, credentials, shares, slots: slots.calls, deadlines, log },
        slow: createSlowCalls(limits.slowMs ?? 0, log),
        traceRatio: options.traceRatio ?? 0,
      }),
    },
  });
  const routes = [
    ...healthRoutes(options.ready),
    ...resourceMetadataRoutes({ endpoints, issuer: options.externalIssuer ?? `${baseUrl.origin}${base}`, serviceName }),
    ...authorizationServerRoutes({ dispatch, self, slots, addressOf, base }),
    ...platformIssuerRoutes(dispatch, base),
    ...registrationRoutes({ dispatch, self, slots, version, base }),
    ...otlpRoutes({ dispatch, enter, origins, shares, base }),
    ...consoleRoutes({ files: options.console, endpoints, baseUrl, serviceName, apiKeyVariable, base }),
    ...rpcRoutes({ dispatch, enter: enterPeople, origins, credentials, shares, image, base }),
  ];
  const pages = createPages(routes, log, unauthenticated);
  let edge: Edge | undefined;
  let endCounting = (): void => undefined;
  const published = [baseUrl, ...Object.values(options.publicUrls ?? {})];

  return {
    servers: [...servers.keys()],
    routes: [...endpoints.all.map(({ path }) => ({ path, methods: ENDPOINT_METHODS })), ...routes],
    async listen(host, port, { exclusive = true } = {}) {
      const allowsHost = createHosts({ named: options.hosts, published, address: host });
      const handle = createRouter({ base, allowsHost, slots, unauthenticated, endpoints, origins, serve, pages });
      const { connections: maxConnections, bodyMs } = limits;
      const listen = await loadEdge(await chooseEdge(options.edge, log, { shares: !exclusive }));
      edge = await listen({ host, port, exclusive, maxConnections, bodyMs }, handle);
      endCounting = countRequests(edge, limits.inFlight);
      return edge.port;
    },
    async drain(graceMs) {
      edge?.stopListening();
      await until(() => edge === undefined || edge.connections() === 0, Math.min(graceMs, LINGER_MS));
      await idle(edge, graceMs);
      // What still runs is told so before its connection goes.
      deadlines.close();
      await idle(edge, LAST_WORDS_MS);
      edge?.close();
      endCounting();
      states.close();
      visible.close();
    },
  };
}

const inFlightNow = gauge("sallyport_requests_in_flight", "HTTP requests that are not answered yet.", []);
const inFlightMost = gauge("sallyport_requests_in_flight_limit", "MAX_IN_FLIGHT of the process.", []);

/** Returns the end of it. */
function countRequests(edge: Edge, most: number): () => void {
  const ends = [
    inFlightNow.read(() => [{ labels: [], value: edge.inFlight() }]),
    inFlightMost.read(() => [{ labels: [], value: most }]),
  ];
  return () => {
    for (const end of ends) end();
  };
}

function originsOf({ baseUrl, origins = [] }: FacadeOptions, tools: readonly Tool[]): Origins {
  return createOrigins({
    allowed: [baseUrl.origin, ...origins],
    localhost: isLoopback(baseUrl.hostname),
    paramHeaders: [...new Set(tools.flatMap((tool) => tool.headers.map(({ header }) => header)))],
  });
}

/** Waits until nothing is in flight, at most `ms`. */
function idle(edge: Edge | undefined, ms: number): Promise<void> {
  return until(() => edge === undefined || edge.inFlight() === 0, ms);
}

async function until(isSo: () => boolean, ms: number): Promise<void> {
  const end = Date.now() + ms;
  while (!isSo() && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS));
}
