import type { Endpoint, Endpoints } from "../../catalogue/endpoints.js";
import type { HeaderList } from "../exchange.js";
import { jsonPage, type Page, type Route } from "../route.js";

const PUBLIC: HeaderList = [
  "content-type",
  "application/json",
  "cache-control",
  "public, max-age=3600",
  "access-control-allow-origin",
  "*",
];
const PREFLIGHT: Page = {
  status: 204,
  headers: [
    "access-control-allow-origin",
    "*",
    "access-control-allow-methods",
    "GET, OPTIONS",
    "access-control-allow-headers",
    "MCP-Protocol-Version",
  ],
};
const UNKNOWN = jsonPage(404, { error: "not_found", message: "There is no such metadata document." });

/** What the documents say. */
export interface ResourceMetadataOptions {
  readonly endpoints: Endpoints;
  /** The authorization server's issuer. */
  readonly issuer: string;
  readonly serviceName: string;
}

/**
 * The protected resource metadata of every endpoint (RFC 9728), public. The
 * root document and every other well-known path are a clean 404: a resource of
 * the whole origin would have clients ask for tokens with the wrong audience.
 */
export function resourceMetadataRoutes({ endpoints, issuer, serviceName }: ResourceMetadataOptions): Route[] {
  const documents = new Map<Endpoint, Page>();
  for (const endpoint of endpoints.all) {
    documents.set(
      endpoint,
      jsonPage(
        200,
        {
          resource: endpoint.resource,
          authorization_servers: [issuer],
          scopes_supported: endpoint.scopes,
          bearer_methods_supported: ["header"],
          resource_name: `${serviceName} ${endpoint.server}`,
        },
        PUBLIC,
      ),
    );
  }
  return [
    {
      path: "/.well-known/*",
      methods: ["GET", "OPTIONS"],
      handle({ path, method, headers }) {
        const endpoint = endpoints.describedAt(path, headers.host);
        if (endpoint === undefined) return UNKNOWN;
        return method === "OPTIONS" ? PREFLIGHT : (documents.get(endpoint) as Page);
      },
    },
  ];
}
