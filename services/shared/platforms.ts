/** How a platform can take our token: in every request (`bearer`), or in `exchange` for a session of its own. */
export type PlatformAuth = "bearer" | "exchange";

/**
 * What a platform server is: an MCP server whose tools are answered by a
 * connected platform. Whatever must know the platforms derives it from here:
 * endpoints, scopes, settings, registration, switches, docs. What a platform
 * server does is its folder, services/platform-proxy/platforms/NAME/.
 */
interface PlatformDescription {
  /** A few lower-case letters: the last segment of the endpoint's path, the proto package of its tools, the name of its folders. */
  readonly name: string;
  /** What kind of platform it is, in words. */
  readonly label: string;
  /** `platform_identifier` of the XTM registration contract: what the platform calls its own kind. */
  readonly identifier: string;
  /** `business_vertical` of the XTM registration contract. */
  readonly vertical: string;
  /** The ways in which it can take our token, the default first; where there are two, NAME_AUTH chooses. */
  readonly auth: readonly [PlatformAuth, ...PlatformAuth[]];
  /** The title of the built-in platform, services/sandbox/NAME/; absent where there is none. */
  readonly sandbox?: string;
  /** What a model should know before it uses the server (MCP `instructions`), in a few sentences. */
  readonly instructions: string;
}

const TABLE = [
  {
    name: "cti",
    label: "threat intelligence",
    identifier: "opencti",
    vertical: "cti",
    auth: ["bearer"],
    sandbox: "Sandbox threat intelligence",
    instructions:
      "Threat intelligence of the connected platform, as the signed-in user sees it: search indicators, observables, reports, threat actors, malware, vulnerabilities and their relations. Search first, then read objects by id; ids are the platform's own and come from results, never from memory. Writes act on the live knowledge graph at once.",
  },
  {
    name: "aev",
    label: "adversarial exposure validation",
    identifier: "openaev",
    vertical: "aev",
    auth: ["bearer"],
    sandbox: "Sandbox exposure validation",
    instructions:
      "Adversarial exposure validation on the connected platform, as the signed-in user: scenarios, simulations, injects, assets, teams, expectations and findings. Tools that launch a simulation or an inject act on real machines and mail real people: confirm with the user first. Where the user has several tenants, pass tenant_id.",
  },
  {
    name: "grc",
    label: "governance, risk and compliance",
    identifier: "ciso-assistant",
    vertical: "grc",
    auth: ["exchange", "bearer"],
    sandbox: "Sandbox governance, risk, compliance",
    instructions:
      "Governance, risk and compliance of the connected platform, as the signed-in user: frameworks, assessments, requirements, controls, risks, evidence and remediation. Read a framework or an assessment before its parts. Where the user has several tenants, pass tenant_id.",
  },
] as const satisfies readonly PlatformDescription[];

type Row = (typeof TABLE)[number];

/** The name of a platform server. */
export type PlatformServer = Row["name"];

/** A platform server whose platform takes our token in more than one way. */
export type ChoosingServer = Extract<Row, { readonly auth: readonly [PlatformAuth, PlatformAuth] }>["name"];

/** What the table says of a platform server. */
export type Platform = PlatformDescription & { readonly name: PlatformServer };

/** The platform servers, in the order in which they are shown. */
export const PLATFORMS: readonly Platform[] = TABLE;

/** Their names. */
export const PLATFORM_SERVERS: readonly PlatformServer[] = PLATFORMS.map(({ name }) => name);

/** The names of those whose platform takes our token in more than one way. */
export const CHOOSING_SERVERS = PLATFORMS.filter(({ auth }) => auth.length > 1).map(
  ({ name }) => name,
) as readonly ChoosingServer[];

/** Whether a server is answered by a connected platform. */
export function isPlatformServer(server: string): server is PlatformServer {
  return PLATFORM_SERVERS.some((name) => name === server);
}

/** What the table says of a platform server. */
export function platformOf(server: PlatformServer): Platform {
  return PLATFORMS.find(({ name }) => name === server) as Platform;
}

/** The server of our own records: an MCP server like the others, but no platform stands behind it. */
export const CORE = {
  name: "core",
  instructions:
    "The service's own objects, as the signed-in user may see them: agents, assignments, runs, knowledge bases, prompts, skills, custom tools, integrations, MCP servers, variables and agent traces. Updates change only the fields that are given. Built-in objects are read-only; some others need more than the right to view them. Secrets are written, never read.",
} as const;

/** The name of an MCP server that we publish. */
export type Server = PlatformServer | typeof CORE.name;

/** The MCP servers that we publish: the platform servers and core. */
export const SERVERS: readonly Server[] = [...PLATFORM_SERVERS, CORE.name];

/** The scopes of a server's tools: those that read and those that write. */
export function scopesOfServer(server: string): readonly [read: string, write: string] {
  return [`${server}:read`, `${server}:write`];
}
