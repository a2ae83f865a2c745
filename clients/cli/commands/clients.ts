import { SERVERS } from "../../../services/shared/platforms.js";
import type { Place } from "../../packages/clients/client.js";
import { hindranceOf } from "../../packages/clients/connectors.js";
import { placeInWords, SCOPES } from "../../packages/clients/places.js";
import {
  ABOUT,
  CONNECTORS,
  type Connector,
  type Entry,
  entryOf,
  isVariable,
  type Key,
  keyVariableIn,
  MCP_CLIENTS,
  type McpClient,
} from "../../packages/mcp-clients.js";
import type { Input, Verb } from "../command.js";
import { UsageError } from "../failures.js";
import { ALL, costInWords, costOf, narrowedFor, type ServerCost } from "../narrowed-url.js";
import type { Session } from "../session.js";

const KNOWN: readonly (McpClient | Connector)[] = [...MCP_CLIENTS, ...CONNECTORS];

interface Shown {
  readonly places: readonly Place[];
  /** The configuration files in words, a line each. */
  readonly files: readonly string[];
  /** What goes into the file; of a connector, what a person does with the URLs. */
  readonly config?: string;
  readonly alternative?: { readonly title: string; readonly config: string };
  readonly steps?: string;
  readonly urls: readonly string[];
  readonly commands: readonly string[];
  /** Links that add a server; none has a key. */
  readonly links: readonly { readonly title: string; readonly server: string; readonly href: string }[];
  /** What the tools cost with every turn, a server each. */
  readonly costs: readonly (ServerCost & { readonly said: string })[];
  readonly notes: readonly string[];
}

/** Configurations of MCP clients, ready to be pasted. */
export const clients: readonly Verb[] = [
  {
    verb: "list",
    doc: "List the supported clients, and the configuration files of each.",
    columns: ["name", "title", "files"],
    isUncut: true,
    async run() {
      return {
        clients: KNOWN.map((client) => ({
          name: client.name,
          title: client.title,
          files: filesOf(client).join("; "),
          places: placesOf(client),
        })),
      };
    },
  },
  {
    verb: "show",
    doc: "Show the configuration of a client. It names an environment variable for the key, or contains the key that you give.",
    args: [{ name: "NAME", doc: "The client.", choices: KNOWN.map(({ name }) => name) }],
    flags: {
      server: { doc: "The server; all servers if omitted.", choices: SERVERS },
      toolsets: {
        doc: `Toolsets for the URL, separated by commas; ${ALL} for all. If omitted: "basic" for a client that sends every tool with every turn, all for others.`,
      },
      exclude: { doc: "Toolsets and tools to leave out of the URL, separated by commas." },
      readonly: { doc: "Only tools that change nothing.", isSwitch: true },
      tenant: { doc: "The id of the tenant that all calls are for." },
      variable: {
        doc: "The environment variable with the key; API_KEY_VARIABLE, or else SERVICE_API_KEY, if omitted.",
      },
      "api-key": { doc: "The key to write into the configuration instead of a variable. No link contains it." },
    },
    run: show,
    shows: inWords,
  },
];

async function show(session: Session, { args, flags }: Input): Promise<Shown> {
  const client = KNOWN.find(({ name }) => name === args.NAME) as McpClient | Connector;
  const servers = flags.server === undefined ? SERVERS : [flags.server];
  const { toolsets, exclude, readonly, tenant } = flags;
  const asked = { toolsets, exclude, readonly: readonly !== undefined, tenant };
  const { query, narrowing } = narrowedFor(client, servers, asked);
  const entries = servers.map((server) => entryOf(session.url, server, query));
  const costs = servers.map((server) => costOf(server, narrowing));
  const keys = keysOf(flags.variable, flags["api-key"]);
  const notes = client.notes.map(({ about, text }) => `${ABOUT[about]}: ${text}`);
  return {
    places: placesOf(client),
    files: filesOf(client),
    urls: entries.map(({ url }) => url),
    commands: [],
    links: [],
    ...("steps" in client ? { steps: client.steps } : configured(client, entries, keys)),
    costs: costs.map((cost) => ({ ...cost, said: costInWords(client, cost) })),
    notes: [...notes, ...limitsOf(client, costs, session.url)],
  };
}

/** What a client that reads a configuration is given. */
function configured(client: McpClient, entries: readonly Entry[], { key, variable }: Keys): Partial<Shown> {
  const { alternative, command, links } = client;
  return {
    config: client.config(entries, key),
    ...(alternative &&
      "variable" in key && {
        alternative: { title: alternative.title, config: alternative.config(entries, variable) },
      }),
    commands: entries.map((entry) => command?.(entry, key)).filter((one) => one !== undefined),
    links: entries.flatMap((entry) =>
      (links?.(entry, variable) ?? []).map((link) => ({ ...link, server: entry.name })),
    ),
  };
}

/** What people see. Lines that begin with # are not part of a file. */
function inWords(answer: unknown): string {
  const { files, config, alternative, steps, urls, commands, links, costs, notes } = answer as Shown;
  const part = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : ["", `# ${title}`, ...lines];
  return [
    ...(config === undefined ? [`# ${steps}`, ...urls] : [...files.map((file) => `# ${file}`), config]),
    ...(alternative === undefined ? [] : part(`instead: ${alternative.title}`, [alternative.config])),
    ...part("from a shell", commands),
    ...part(
      "links for a browser; none contains a key",
      links.map(({ title, server, href }) => `# ${title} (${server})\n${href}`),
    ),
    ...part(
      "the cost of the tools for a model with every turn, if you may use all of them",
      costs.map(({ said }) => `# ${said}`),
    ),
    ...part(
      "notes",
      notes.map((note) => `# ${note}`),
    ),
  ].join("\n");
}

const placesOf = (client: McpClient | Connector): readonly Place[] => ("places" in client ? client.places : []);

function filesOf(client: McpClient | Connector): string[] {
  if ("steps" in client) return ["no file: it takes the URL"];
  if (client.file !== undefined) return [client.file];
  return client.places.map((place) => `${SCOPES[place.scope]}: ${placeInWords(place)}`);
}

/** What does not work with these URLs. */
function limitsOf(client: McpClient | Connector, costs: readonly ServerCost[], url: string): string[] {
  const { title } = client;
  if ("steps" in client) {
    const hindrance = hindranceOf(url);
    if (hindrance === undefined) return [];
    return [`${title} cannot call this service: ${hindrance}. An administrator sets BASE_URL to a public HTTPS URL.`];
  }
  const { mostTools } = client;
  const tools = costs.reduce((sum, cost) => sum + cost.tools, 0);
  if (mostTools === undefined || tools <= mostTools) return [];
  return [`${title} accepts at most ${mostTools} tools, and these URLs have ${tools}: use fewer toolsets.`];
}

const KEY = /^[\w.~+/=-]+$/;

interface Keys {
  readonly key: Key;
  /** The variable for what never has a key, such as links. */
  readonly variable: string;
}

function keysOf(named: string | undefined, literal: string | undefined): Keys {
  if (literal !== undefined) {
    if (named !== undefined) throw new UsageError("give --variable or --api-key, not both");
    if (!KEY.test(literal)) throw new UsageError("--api-key is not an API key: it has characters that no key has");
  }
  const variable = named ?? keyVariableIn(process.env);
  if (!isVariable(variable)) throw new UsageError(`${variable} is not the name of an environment variable`);
  return { key: literal === undefined ? { variable } : { literal }, variable };
}
