import { type HeaderList, JSON_HEADERS } from "../http/exchange.js";

/** Which web pages may call, and what a browser is told. */
export interface Origins {
  /** Whether a request with this Origin header is served; one without is. */
  allows(origin: string | undefined): boolean;
  /** What a JSON answer to that origin carries. */
  headersFor(origin: string | undefined): HeaderList;
  /** What the answer to its preflight carries. */
  preflightFor(origin: string | undefined): HeaderList;
}

/** Which web pages may call. */
export interface OriginsOptions {
  /** The service's own origin and what else is allowed. */
  readonly allowed: readonly string[];
  /** Any page on this machine may call: for a service that is used on one machine. */
  readonly localhost: boolean;
  /** Names of the Mcp-Param-* headers that tools declare. */
  readonly paramHeaders: readonly string[];
}

const LOCALHOST = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/;

const ALLOWED_HEADERS = [
  "Authorization",
  "Content-Type",
  "Accept",
  "MCP-Protocol-Version",
  "Mcp-Method",
  "Mcp-Name",
  "Last-Event-ID",
  "Mcp-Session-Id",
];

const PREFLIGHT_S = "600";

/** Builds the check of Origin headers, which is also what stops DNS rebinding. */
export function createOrigins({ allowed, localhost, paramHeaders }: OriginsOptions): Origins {
  const known = new Set(allowed);
  const requestHeaders = [...ALLOWED_HEADERS, ...paramHeaders.map((name) => `Mcp-Param-${name}`)].join(", ");
  const allows = (origin: string): boolean => known.has(origin) || (localhost && LOCALHOST.test(origin));
  return {
    allows: (origin) => origin === undefined || allows(origin),
    headersFor: (origin) =>
      origin === undefined || !allows(origin) ? JSON_HEADERS : [...JSON_HEADERS, ...corsOf(origin)],
    preflightFor: (origin) =>
      origin === undefined || !allows(origin)
        ? ["allow", "POST, OPTIONS"]
        : [
            "allow",
            "POST, OPTIONS",
            "access-control-allow-methods",
            "POST, OPTIONS",
            "access-control-allow-headers",
            requestHeaders,
            "access-control-max-age",
            PREFLIGHT_S,
            ...corsOf(origin),
          ],
  };
}

function corsOf(origin: string): string[] {
  return ["access-control-allow-origin", origin, "access-control-expose-headers", "WWW-Authenticate", "vary", "Origin"];
}
