import type { FileRegistry } from "@bufbuild/protobuf";
import { SERVERS, scopesOfServer } from "../services/shared/platforms.js";
import type { Log } from "../services/shared/process/log.js";
import type { Credential } from "../services/shared/rpc/call.js";
import type { Dispatch } from "../services/shared/rpc/dispatch.js";
import { readTools, type Tool } from "../services/shared/tools/tools.js";
import type { Credentials } from "./admission/credentials.js";
import { createBadTokens, createRateLimit } from "./admission/limits.js";
import { createOrigins, type Origins } from "./admission/origins.js";
import { createEndpointStates } from "./catalogue/endpoint-states.js";
import { type Endpoints, layOutEndpoints } from "./catalogue/endpoints.js";
import { instructionsOf } from "./catalogue/instructions.js";
import { serveTool } from "./catalogue/served-tool.js";
import { createVisibleTools } from "./catalogue/visible-tools.js";
import { type Edge, listen } from "./http/edge.js";
import { type Exchange, JSON_HEADERS } from "./http/http.js";
import { createPages } from "./http/pages.js";
import { healthRoutes } from "./http/routes/health.js";
import { platformIssuerRoutes } from "./http/routes/platform-issuer.js";
import { registrationRoutes } from "./http/routes/platform-registration.js";
import { resourceMetadataRoutes } from "./http/routes/resource-metadata.js";
import { rpcRoutes } from "./http/routes/rpc.js";
import { createDeadlines } from "./mcp/deadlines.js";
import { errorText, idOf } from "./mcp/json-rpc.js";
import { createServe } from "./mcp/serve.js";
import type { McpServer } from "./mcp/server.js";
import { createCallTool } from "./mcp/tool-call.js";

/** What bounds one façade worker. */
export interface Limits {
  /** Requests in flight; one more is answered 503 before anything of it is read. */
  readonly inFlight: number;
  /** How long a tool may take, in milliseconds. */
  readonly callMs: number;
  /** Calls of tools a key may make a second, and at once. */
  readonly callsPerSecond: number;
  readonly callBurst: number;
  /** Different bad tokens an address may try a minute. */
  readonly badTokens: number;
}

export interface FacadeOptions {
  /** The way to the services, in this process or another. */
  readonly dispatch: Dispatch;
  /** The façade's own credential, for what it asks on nobody's behalf. */
  readonly self: Credential;
  readonly credentials: Credentials;
  /** The image of the whole API: its tools are what is served. */
  readonly image: FileRegistry;
  /** The public base URL, with or without a path. */
  readonly baseUrl: URL;
  /** Further public URLs of endpoints, by server. */
  readonly publicUrls?: Readonly<Record<string, URL>>;
  /** The name that users see. */
  readonly serviceName: string;
  readonly version: string;
  /** Web origins that may call, besides the base URL's own. */
  readonly origins?: readonly string[];
  /** Hosts that requests may name; absent for any. */
  readonly hosts?: readonly string[] | undefined;
  /** How many proxies stand in front and append to X-Forwarded-For. */
  readonly proxies?: number;
  /** Why the service cannot serve now; empty when it can. */
  readonly ready: () => Promise<readonly string[]>;
  readonly limits: Limits;
  readonly log: Log;
}

/** One façade worker. */
export interface Facade {
  /** The MCP servers that it publishes. */
  readonly servers: readonly string[];
  /** Serves; resolves to the port. @throws Error where the port cannot be had. */
  listen(host: string, port: number, options?: { readonly exclusive?: boolean }): Promise<number>;
  /** Takes no new connections and lets what is in flight finish, up to the grace; then cuts what is left. */
  drain(graceMs: number): Promise<void>;
}

const MINUTE_MS = 60_000;
const DRAIN_POLL_MS = 20;
const LAST_WORDS_MS = 200;

/** Builds a façade from the API's image; it serves once it listens. */
export async function createFacade(options: FacadeOptions): Promise<Facade> {
  const { dispatch, self, credentials, image, baseUrl, limits, log, serviceName, version, proxies = 0 } = options;
  const tools = readTools(image);
  const servers = serversOf(tools, serviceName, version);
  const endpoints = layOutEndpoints({
    baseUrl,
    servers: new Map([...servers].map(([name, server]) => [name, scopesOf(server)])),
    publicUrls: options.publicUrls ?? {},
  });
  const base = baseUrl.pathname.replace(/\/$/, "");
  const issuer = `${baseUrl.origin}${base}`;
  const origins = createOrigins({
    allowed: [baseUrl.origin, ...(options.origins ?? [])],
    localhost: LOOPBACK.has(baseUrl.hostname),
    paramHeaders: [...new Set(tools.flatMap((tool) => tool.headers.map(({ header }) => header)))],
  });
  const visible = createVisibleTools({ dispatch, credentials, servers });
  const states = createEndpointStates({ dispatch, self, credentials, log });
  const deadlines = createDeadlines(limits.callMs);
  const badTokens = createBadTokens(limits.badTokens, MINUTE_MS);
  const serve = createServe({
    credentials,
    states,
    origins,
    badTokens,
    servers,
    context: {
      log,
      view: ({ known, server, exchange }) => visible.of(known, server.name, exchange.query),
      callTool: createCallTool({
        dispatch,
        credentials,
        rate: createRateLimit(limits.callsPerSecond, limits.callBurst),
        deadlines,
        log,
      }),
    },
    addressOf: (exchange) => addressOf(exchange, proxies),
  });
  const pages = createPages(
    [
      ...healthRoutes(options.ready),
      ...resourceMetadataRoutes({ endpoints, issuer, serviceName }),
      ...platformIssuerRoutes(dispatch, base),
      ...registrationRoutes({ dispatch, self, version, base }),
      ...rpcRoutes({
        dispatch,
        credentials,
        badTokens,
        image,
        addressOf: (request) => addressOf(request, proxies),
        base,
      }),
    ],
    log,
  );
  const hosts = options.hosts === undefined ? undefined : new Set(options.hosts.map((host) => host.toLowerCase()));

  let edge: Edge | undefined;
  const handle = (exchange: Exchange) => {
    const { path, headers } = exchange;
    if (HEALTH.has(path)) return pages.serve(exchange);
    if (edge !== undefined && edge.inFlight() > limits.inFlight) return shed(exchange);
    if (hosts !== undefined && !hosts.has(headers.host?.toLowerCase() ?? "")) return refuseHost(exchange);
    const endpoint = endpoints.at(path, headers.host);
    if (endpoint !== undefined) return serve(exchange, endpoint);
    if (path.startsWith(`${base}/mcp/`)) return refuseEndpoint(exchange, endpoints, origins);
    pages.serve(exchange);
  };

  return {
    servers: [...servers.keys()],
    async listen(host, port, { exclusive = true } = {}) {
      edge = await listen({ host, port, exclusive }, handle);
      return edge.port;
    },
    async drain(graceMs) {
      const idle = async (end: number): Promise<void> => {
        while (edge !== undefined && edge.inFlight() > 0 && Date.now() < end) {
          await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS));
        }
      };
      edge?.stopListening();
      await idle(Date.now() + graceMs);
      // What still runs is told so before its connection goes.
      deadlines.close();
      await idle(Date.now() + LAST_WORDS_MS);
      edge?.close();
      states.close();
      visible.close();
    },
  };
}

/** Answered under overload too, and to probes that know no host name. */
const HEALTH = new Set(["/healthz", "/readyz"]);
const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

function serversOf(tools: readonly Tool[], serviceName: string, version: string): Map<string, McpServer> {
  const names = new Set<string>([...SERVERS, ...tools.map((tool) => tool.server)]);
  return new Map(
    [...names].map((name) => [
      name,
      {
        name,
        tools: tools.filter((tool) => tool.server === name).map(serveTool),
        serverInfo: JSON.stringify({ name, title: `${serviceName} ${name}`, version }),
        instructions: JSON.stringify(instructionsOf(name)),
      },
    ]),
  );
}

/** Every scope that a tool of the server needs, those to read first. */
function scopesOf({ name, tools }: McpServer): string[] {
  const scopes = new Set([...scopesOfServer(name), ...tools.map(({ tool }) => tool.scope)]);
  return [...scopes];
}

/** Where the client is: the address that the outermost of our own proxies saw. */
function addressOf({ headers, address }: Pick<Exchange, "headers" | "address">, proxies: number): string {
  if (proxies === 0) return address;
  const hops = headers["x-forwarded-for"]?.split(",") ?? [];
  return hops.at(-proxies)?.trim() || address;
}

/** Overload: answered before anything is read or parsed. */
function shed(exchange: Exchange): void {
  const text = errorText(undefined, 503, "The service is busy: try again in a few seconds.", { error: "overloaded" });
  exchange.answer(503, [...JSON_HEADERS, "retry-after", "1"], text);
}

function refuseHost(exchange: Exchange): void {
  const text = errorText(undefined, 403, "The service does not answer to this host name.", {
    error: "host_not_allowed",
  });
  exchange.answer(403, JSON_HEADERS, text);
}

const MAX_REFUSED_BODY = 64 << 10;

function refuseEndpoint(exchange: Exchange, { all }: Endpoints, origins: Origins): void {
  const known = [...new Set(all.map(({ path }) => path))].join(", ");
  const message = `There is no MCP server at this address; there are ${known}.`;
  exchange.read(MAX_REFUSED_BODY, (body) =>
    exchange.answer(
      404,
      origins.headersFor(exchange.headers.origin),
      errorText(idOf(body), 404, message, { error: "unknown_endpoint" }),
    ),
  );
}
