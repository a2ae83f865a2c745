import { challengeOf } from "../admission/bearer.js";

/** One public address of an MCP server. */
export interface Endpoint {
  readonly server: string;
  readonly path: string;
  /** The host that this address is bound to; absent for any. */
  readonly host?: string;
  /** The exact public URL: RFC 8707 resource, lower-case host, no trailing slash. */
  readonly resource: string;
  /** Where its protected resource metadata is served (RFC 9728 section 3.1). */
  readonly metadataPath: string;
  /** What a client may ask for here. */
  readonly scopes: readonly string[];
  /** The WWW-Authenticate header of a refusal, without an error. */
  readonly challenge: string;
}

/** Finds endpoints by path and host. */
export interface Endpoints {
  readonly all: readonly Endpoint[];
  /** By the path of a request; a trailing slash is served alike. */
  at(path: string, host: string | undefined): Endpoint | undefined;
  /** By the path of a metadata document. */
  describedAt(path: string, host: string | undefined): Endpoint | undefined;
}

/** The servers, and the public URLs that they have. */
export interface EndpointOptions {
  readonly baseUrl: URL;
  /** The servers with the scopes of their tools. */
  readonly servers: ReadonlyMap<string, readonly string[]>;
  /** Further public URLs, by server. */
  readonly publicUrls: Readonly<Record<string, URL>>;
}

const WELL_KNOWN = "/.well-known/oauth-protected-resource";

/** Lays out the endpoints: {base}/mcp/{server} each, and the further public URLs. */
export function layOutEndpoints({ baseUrl, servers, publicUrls }: EndpointOptions): Endpoints {
  const base = withoutSlash(baseUrl.pathname);
  const all: Endpoint[] = [];
  for (const [server, scopes] of servers) {
    all.push(endpointOf(server, scopes, new URL(`${base}/mcp/${server}`, baseUrl)));
    const other = publicUrls[server];
    if (other !== undefined) all.push({ ...endpointOf(server, scopes, other), host: other.host });
  }
  const byPath = indexOf(all, (endpoint) => endpoint.path);
  const byMetadata = indexOf(all, (endpoint) => endpoint.metadataPath);
  return {
    all,
    at: (path, host) => find(byPath, path, host),
    describedAt: (path, host) => find(byMetadata, path, host),
  };
}

function endpointOf(server: string, scopes: readonly string[], url: URL): Endpoint {
  const path = withoutSlash(url.pathname);
  const metadataPath = `${WELL_KNOWN}${path}`;
  return {
    server,
    path: path === "" ? "/" : path,
    resource: `${url.origin}${path}`,
    metadataPath,
    scopes,
    challenge: challengeOf(`${url.origin}${metadataPath}`, scopes),
  };
}

function indexOf(endpoints: readonly Endpoint[], keyOf: (endpoint: Endpoint) => string): Map<string, Endpoint[]> {
  const index = new Map<string, Endpoint[]>();
  for (const endpoint of endpoints) {
    const key = keyOf(endpoint);
    // Those bound to a host come first: they are the closer match.
    if (endpoint.host === undefined) index.set(key, [...(index.get(key) ?? []), endpoint]);
    else index.set(key, [endpoint, ...(index.get(key) ?? [])]);
  }
  return index;
}

function find(
  index: ReadonlyMap<string, readonly Endpoint[]>,
  path: string,
  host: string | undefined,
): Endpoint | undefined {
  const found = index.get(path) ?? (path.endsWith("/") ? index.get(path.slice(0, -1)) : undefined);
  return found?.find((endpoint) => endpoint.host === undefined || endpoint.host === host?.toLowerCase());
}

function withoutSlash(path: string): string {
  return path.endsWith("/") ? path.slice(0, -1) : path;
}
