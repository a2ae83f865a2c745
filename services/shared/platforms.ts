import { AEV_ROLE } from "./roles/aev.js";
import { CTI_ROLE } from "./roles/cti.js";
import { GRC_ROLE } from "./roles/grc.js";
import type { RoleWords } from "./roles/words.js";

/** What a server's MCP `instructions` say first: a client that keeps tools out of the context decides by it where to search. */
export interface About {
  /** The product behind the server, as people call it. */
  readonly product: string;
  /** What the product is for. */
  readonly subject: string;
  /** What the other servers' instructions call this subject. */
  readonly inShort: string;
  /** What people ask about, in their words, each with the toolsets that answer it. The most wanted come first. */
  readonly topics: Readonly<Record<string, readonly string[]>>;
  /** A sentence that holds for all of its tools. */
  readonly note: string;
}

/** What people ask of these tools, in their words; [] if they ask nothing that is known. */
export function topicsOf({ topics }: About, tools: readonly { readonly toolset: string }[]): string[] {
  const toolsets = new Set(tools.map(({ toolset }) => toolset));
  return Object.keys(topics).filter((topic) => topics[topic]?.some((one) => toolsets.has(one)));
}

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
  /** The beginning of its MCP `instructions`. */
  readonly about: About;
  /** How to get a right that one lacks there: the end of a sentence. */
  readonly granting: string;
  /** The rights of `(platform.v1.needs)` that the platform calls otherwise, in its own words. */
  readonly rights?: Readonly<Record<string, string>>;
  /** How its administrator creates a role for tools; if absent, only the ids of rights are known. */
  readonly role?: RoleWords;
}

const AS_THE_USER = "Every call runs as the signed-in user.";

const TABLE = [
  {
    name: "cti",
    label: "threat intelligence",
    identifier: "opencti",
    vertical: "cti",
    auth: ["bearer"],
    sandbox: "Sandbox threat intelligence",
    about: {
      product: "OpenCTI",
      subject: "threat intelligence (CTI)",
      inShort: "threat intelligence",
      topics: {
        "hacker groups (APT), malware, campaigns": ["entity_list", "entity", "search", "relationship", "insight"],
        "IoCs (IP, domain, hash)": ["indicator", "observable", "search", "sighting"],
        CVEs: ["vulnerability"],
        "ATT&CK techniques": ["technique"],
        reports: ["container", "container_record"],
        cases: ["case"],
      },
      note: AS_THE_USER,
    },
    granting: "ask an administrator of the platform to add what is missing to a role of one of your groups",
    role: CTI_ROLE,
  },
  {
    name: "aev",
    label: "adversarial exposure validation",
    identifier: "openaev",
    vertical: "aev",
    auth: ["bearer"],
    sandbox: "Sandbox exposure validation",
    about: {
      product: "OpenAEV",
      subject: "exposure validation",
      inShort: "attack simulations and drills",
      topics: {
        "attack simulations (red team, BAS)": [
          "simulation",
          "simulation_plan",
          "scenario",
          "scenario_plan",
          "atomic_test",
          "analysis",
        ],
        "drills, tabletop exercises": ["scenario", "scenario_plan", "simulation", "inject", "lessons", "questionnaire"],
        "phishing tests": ["inject", "scenario", "audience"],
        payloads: ["payload"],
        endpoints: ["asset", "asset_group"],
        findings: ["finding"],
      },
      note: AS_THE_USER,
    },
    granting: "ask an administrator of the platform to add what is missing to a role of one of your groups",
    rights: {
      CREATE_ASSESSMENT: "MANAGE_ASSESSMENT on all scenarios",
      SEARCH_FINDINGS: "ACCESS_FINDINGS, or to read the scenario, simulation or endpoint that they are of,",
    },
    role: AEV_ROLE,
  },
  {
    name: "grc",
    label: "governance, risk and compliance",
    identifier: "ciso-assistant",
    vertical: "grc",
    auth: ["exchange", "bearer"],
    sandbox: "Sandbox governance, risk, compliance",
    about: {
      product: "CISO Assistant",
      subject: "governance, risk and compliance (GRC)",
      inShort: "risk and compliance",
      topics: {
        "audits and gaps (ISO 27001, NIS2)": ["assessment"],
        frameworks: ["framework"],
        controls: ["control"],
        evidence: ["evidence"],
        "the risk register": ["risk", "quantification"],
        assets: ["asset"],
        CVEs: ["cve"],
      },
      note: AS_THE_USER,
    },
    granting: "ask an administrator of the platform to assign you a role that has what is missing",
    rights: { attach_evidence: "change_appliedcontrol or change_requirementassessment" },
    role: GRC_ROLE,
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
  about: {
    product: "Sallyport",
    subject: "the service's own AI agents",
    inShort: "AI agents and automation",
    topics: {
      "agents (bots, assistants)": ["agent"],
      "scheduled jobs, automation": ["assignment"],
      runs: ["run"],
      "traces (logs of agents)": ["trace_inspection"],
      "documents (RAG)": ["knowledge_base", "document"],
      skills: ["skill"],
      prompts: ["prompt"],
      secrets: ["variable"],
    },
    note: "Every call runs as the signed-in user; built-in objects are read-only.",
  } satisfies About as About,
  granting: "ask an owner or an administrator to share one with you",
  /** What each right is held by: an object that somebody shares. */
  rights: { skill: "a skill that you may read", knowledge_base: "a knowledge base that you may read" },
} as const;

/** The name of an MCP server that we publish. */
export type Server = PlatformServer | typeof CORE.name;

/** The MCP servers that we publish: the platform servers and core. */
export const SERVERS: readonly Server[] = [...PLATFORM_SERVERS, CORE.name];

/** The scopes of a server's tools: those that read and those that write. */
export function scopesOfServer(server: string): readonly [read: string, write: string] {
  return [`${server}:read`, `${server}:write`];
}

/** The audience of a platform's tokens: its client id where it exchanges them, else its public address. */
export function platformAudienceOf({
  auth,
  clientId,
  publicUrl,
}: {
  readonly auth: string;
  readonly clientId: string;
  readonly publicUrl: string;
}): string {
  return auth === "exchange" ? clientId : publicUrl.replace(/\/+$/, "");
}
