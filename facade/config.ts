import { checkedExternal, readExternal } from "../services/shared/credentials/external-setting.js";
import { CALL_RATE_OPTIONS } from "../services/shared/limits/settings.js";
import { SERVERS, type Server } from "../services/shared/platforms.js";
import {
  count,
  listOf,
  type Option,
  oneOf,
  onOff,
  optional,
  port,
  share,
  text,
  url,
} from "../services/shared/process/config.js";

/** The setting that gives a server's endpoint a public URL of its own: MCP_NAME_URL. */
export function publicUrlSetting<S extends Server>(server: S): `mcp${Capitalize<S>}Url` {
  return `mcp${server.slice(0, 1).toUpperCase()}${server.slice(1)}Url` as `mcp${Capitalize<S>}Url`;
}

/**
 * A URL that clients are told. What narrows a list is in the URL of a client: here it would be lost.
 *
 * @throws Error that says what it should be.
 */
function publicUrl(value: string): string {
  const given = url(value);
  if (/[?#]/.test(given)) throw new Error("must be a URL without a query or fragment: those belong in a client's URL");
  return given;
}

/**
 * The name of an environment variable, as every shell takes it.
 *
 * @throws Error that says what it should be.
 */
function variableName(value: string): string {
  if (!/^[A-Za-z_]\w*$/.test(value))
    throw new Error("must be the name of an environment variable: letters, digits and underscores, no digit first");
  return value;
}

const publicUrlOptions = Object.fromEntries(
  SERVERS.map((server) => [
    publicUrlSetting(server),
    optional({
      doc: `A separate public URL for the ${server} endpoint, such as https://${server}.example.com/mcp.`,
      parse: publicUrl,
    }),
  ]),
) as Readonly<Record<`mcp${Capitalize<Server>}Url`, Option<string | undefined>>>;

/** The further public URLs of endpoints, by server. */
export function publicUrlsOf(
  settings: Partial<Record<`mcp${Capitalize<Server>}Url`, string | undefined>>,
): Record<string, string> {
  const named = SERVERS.flatMap((server) => {
    const url = settings[publicUrlSetting(server)];
    return url === undefined ? [] : [[server, url] as const];
  });
  return Object.fromEntries(named);
}

/** The issuer of the authorization server of others; undefined if the embedded one issues tokens. */
export function externalIssuerOf({
  externalAuthorizationServer: text,
}: {
  readonly externalAuthorizationServer: string | undefined;
}): string | undefined {
  return text === undefined ? undefined : readExternal(text).issuer;
}

/** The HTTP servers that a façade can listen with: µWebSockets.js, or what Node brings. */
export const EDGE_NAMES = ["uws", "node"] as const;

/** One of them. */
export type EdgeName = (typeof EDGE_NAMES)[number];

/** The façade's settings; where the services are is the launcher's. */
export const FACADE_OPTIONS = {
  host: { doc: "The address to listen on.", parse: text, fallback: "127.0.0.1" },
  port: { doc: "The port of the façade; 0 for any free one.", parse: port, fallback: 8080 },
  baseUrl: optional({
    doc: "The public base URL; http://HOST:PORT if omitted, with the loopback address if HOST is every address.",
    parse: publicUrl,
  }),
  serviceName: { doc: "The name that users see.", parse: text, fallback: "Sallyport" },
  apiKeyVariable: {
    doc: "The environment variable from which the client configurations of the console read the API key.",
    parse: variableName,
    fallback: "SERVICE_API_KEY",
  },
  ...publicUrlOptions,
  externalAuthorizationServer: optional({
    doc: "An authorization server of others that issues the access tokens of the MCP endpoints in place of the embedded one, as a JSON object. docs/external-authorization-server.md has its members.",
    parse: checkedExternal,
  }),
  allowedOrigins: {
    doc: "Web origins that may call the service in addition to the base URL's origin, separated by commas.",
    parse: listOf(text),
    fallback: [] as readonly string[],
  },
  allowedHosts: optional({
    doc: "Host names that requests may name in addition to those of BASE_URL and MCP_*_URL, with their ports, separated by commas; if omitted and HOST is a loopback address, also the names of this machine. Health checks may name any host.",
    parse: listOf(text),
  }),
  edge: optional({
    doc: "The HTTP server: uws is µWebSockets.js, node is node:http. If omitted, uws if it loads, otherwise node.",
    parse: oneOf(...EDGE_NAMES),
  }),
  trustedProxies: {
    doc: "The number of proxies in front of the service that append to X-Forwarded-For.",
    parse: count,
    fallback: 0,
  },
  maxInFlight: {
    doc: "Requests that one worker serves at once before it answers 503; one key gets at most a quarter of them, then 429.",
    parse: count,
    fallback: 1000,
  },
  maxConnections: {
    doc: "Connections that one worker keeps open; it closes further ones at once.",
    parse: count,
    fallback: 16_384,
  },
  callTimeoutMs: { doc: "The time limit of a tool call, in milliseconds.", parse: count, fallback: 60_000 },
  slowCallMs: {
    doc: "From how many milliseconds on a tool call, or a request to a platform, is logged as slow; 0 for none.",
    parse: count,
    fallback: 10_000,
  },
  metricsPort: optional({
    doc: "The port of /metrics (Prometheus), /healthz and /readyz; 0 for any free one, none if omitted.",
    parse: port,
  }),
  metricsHost: {
    doc: "The address that METRICS_PORT listens on. It asks for no credential: let only your own network reach it.",
    parse: text,
    fallback: "127.0.0.1",
  },
  tracing: { doc: "Trace the service's own requests with OpenTelemetry: on or off.", parse: onOff, fallback: false },
  traceSampleRatio: {
    doc: "The share of requests that the service traces, from 0 to 1. The caller's sampling decision comes first.",
    parse: share,
    fallback: 1,
  },
  ...CALL_RATE_OPTIONS,
  badTokensPerMinute: {
    doc: "Different invalid tokens that one address may send to one worker in a minute.",
    parse: count,
    fallback: 30,
  },
};
