import { isIP } from "node:net";
import { canonical, closedKindOf } from "../../services/shared/outgoing/address-kinds.js";
import { CORE, isPlatformServer, platformOf, type Server } from "../../services/shared/platforms.js";
import { nameOf } from "../packages/contents.js";

/** The newest schema of `server.json` that the MCP registry has published. */
export const SERVER_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

/** What an entry is made of. */
export interface Listing {
  readonly server: Server;
  /** The endpoint's public URL: its own, if it has one. */
  readonly url: string;
  /** The public base URL of the service. */
  readonly baseUrl: string;
  /** The name that users see. */
  readonly serviceName: string;
  /** MAJOR.MINOR.PATCH of the service. */
  readonly version: string;
  /** The part of the name before the slash; the host of `baseUrl` in reverse if undefined. */
  readonly namespace: string | undefined;
}

/** An entry of the MCP registry for a remote server. */
export interface ServerJson {
  readonly $schema: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly version: string;
  readonly websiteUrl: string;
  readonly remotes: readonly [Remote];
}

interface Remote {
  readonly type: "streamable-http";
  readonly url: string;
  readonly headers: readonly object[];
}

/** An endpoint that no registry can list; the message says why, and what to change. */
export class UnlistableError extends Error {}

/** OAuth needs no header: a client reads how to sign in from the answer to a request without one. */
const HEADERS = [
  {
    name: "Authorization",
    description: "Only for a client that does not sign in with OAuth: the word Bearer, a space, and an API key.",
    placeholder: "Bearer YOUR_API_KEY",
    isRequired: false,
    isSecret: true,
  },
] as const;

const MAX_TITLE = 100;
const MAX_NAME = 200;
/** Two labels or more: a registry asks for a domain, or io.github.NAME. */
const NAMESPACE = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/i;
/** Names that no public resolver knows (RFC 6761, RFC 6762, RFC 9476, and what ICANN keeps for private use). */
const PRIVATE_NAME = /(^|\.)(localhost|local|internal|home\.arpa|test|invalid|alt|onion)$/;

/**
 * The `server.json` of one endpoint.
 *
 * @throws UnlistableError for a URL that is not public HTTPS, or a namespace that is not a domain in reverse.
 */
export function serverJson({ server, url, baseUrl, serviceName, version, namespace }: Listing): ServerJson {
  checkPublic(`the endpoint ${server}`, url, `BASE_URL or MCP_${server.toUpperCase()}_URL`);
  checkPublic("the service", baseUrl, "BASE_URL");
  const title = `${serviceName} ${server.toUpperCase()}`;
  if (title.length > MAX_TITLE)
    throw new UnlistableError(
      `the title has ${title.length} characters, and ${MAX_TITLE} fit: set a shorter SERVICE_NAME`,
    );
  const name = `${namespace ?? namespaceOf(baseUrl)}/${nameOf({ server })}`;
  if (name.length > MAX_NAME)
    throw new UnlistableError(`the name has ${name.length} characters, and ${MAX_NAME} fit: give a shorter namespace`);
  if (!NAMESPACE.test(name.slice(0, name.indexOf("/"))) || name.split("/").length !== 2)
    throw new UnlistableError(
      `the namespace ${name.slice(0, name.lastIndexOf("/"))} is not a domain in reverse: give one such as com.example`,
    );
  return {
    $schema: SERVER_SCHEMA,
    name,
    title,
    description: descriptionOf(server),
    version,
    websiteUrl: baseUrl,
    remotes: [{ type: "streamable-http", url, headers: HEADERS }],
  };
}

/** At most 100 characters, by the schema. */
function descriptionOf(server: Server): string {
  const { product, subject } = isPlatformServer(server) ? platformOf(server).about : CORE.about;
  return `Tools for ${subject} on ${product}, always as the signed-in user.`;
}

/** sallyport.example.com is com.example.sallyport. */
function namespaceOf(baseUrl: string): string {
  const { hostname } = new URL(baseUrl);
  if (isIP(unbracketed(hostname)) !== 0)
    throw new UnlistableError(`${hostname} is an address and not a name: give a namespace such as com.example`);
  return hostname.split(".").reverse().join(".");
}

/** A registry's readers call the URL from elsewhere. */
function checkPublic(what: string, text: string, setting: string): void {
  const { protocol, hostname } = new URL(text);
  const fix = `set ${setting} to a public HTTPS URL`;
  if (protocol !== "https:") throw new UnlistableError(`${what} is at ${text}, which is not HTTPS: ${fix}`);
  const host = unbracketed(hostname);
  if (isIP(host) !== 0) {
    const kind = closedKindOf(canonical(host))?.name;
    if (kind !== undefined) throw new UnlistableError(`${what} is at ${text}, ${kind} address: ${fix}`);
  } else if (!host.includes(".") || PRIVATE_NAME.test(host))
    throw new UnlistableError(`${what} is at ${text}, a name that only your network knows: ${fix}`);
}

const unbracketed = (hostname: string): string => hostname.replace(/^\[|\]$/g, "");
