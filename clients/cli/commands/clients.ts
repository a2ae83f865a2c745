import { SERVERS } from "../../../services/shared/platforms.js";
import { entryOf, type Key, keyVariableIn, MCP_CLIENTS, type McpClient } from "../../packages/mcp-clients.js";
import type { Verb } from "../command.js";
import { UsageError } from "../failures.js";
import { ALL, costInWords, costOf, narrowedFor, type ServerCost } from "../narrowed-url.js";

const NAMES = MCP_CLIENTS.map(({ name }) => name);

interface Shown {
  readonly file: string;
  readonly config: string;
  readonly commands: readonly string[];
  /** What the tools cost with every turn, a server each. */
  readonly costs: readonly (ServerCost & { readonly said: string })[];
  readonly note?: string;
}

/** Configurations of MCP clients, ready to be pasted. */
export const clients: readonly Verb[] = [
  {
    verb: "list",
    doc: "List the supported clients, and the configuration file of each.",
    columns: ["name", "title", "file"],
    isUncut: true,
    async run() {
      return { clients: MCP_CLIENTS.map(({ name, title, file }) => ({ name, title, file })) };
    },
  },
  {
    verb: "show",
    doc: "Show the configuration of a client. It names an environment variable for the key, or contains the key that you give.",
    args: [{ name: "NAME", doc: "The client.", choices: NAMES }],
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
      "api-key": { doc: "The key to write into the configuration instead of a variable." },
    },
    async run(session, { args, flags }) {
      const client = MCP_CLIENTS.find(({ name }) => name === args.NAME) as McpClient;
      const servers = flags.server === undefined ? SERVERS : [flags.server];
      const { toolsets, exclude, readonly, tenant } = flags;
      const asked = { toolsets, exclude, readonly: readonly !== undefined, tenant };
      const { query, narrowing } = narrowedFor(client, servers, asked);
      const entries = servers.map((server) => entryOf(session.url, server, query));
      const key = keyOf(flags.variable, flags["api-key"]);
      const commands = entries.map((entry) => client.command?.(entry, key)).filter((command) => command !== undefined);
      const costs = servers.map((server) => costOf(server, narrowing));
      const { file } = client;
      const note = noteOf(client, costs);
      return {
        file,
        config: client.config(entries, key),
        commands,
        costs: costs.map((cost) => ({ ...cost, said: costInWords(client, cost) })),
        ...(note !== "" && { note }),
      };
    },
    shows(answer) {
      const { file, config, commands, costs, note } = answer as Shown;
      return [
        `# ${file}`,
        config,
        ...(commands.length > 0 ? ["", "# from a shell", ...commands] : []),
        "",
        "# what the tools cost a model with every turn, if you may use all of them",
        ...costs.map(({ said }) => `# ${said}`),
        ...(note === undefined ? [] : ["", `# ${note}`]),
      ].join("\n");
    },
  },
];

function noteOf({ note, title, mostTools }: McpClient, costs: readonly ServerCost[]): string {
  const tools = costs.reduce((sum, cost) => sum + cost.tools, 0);
  const isTooMany = mostTools !== undefined && tools > mostTools;
  const more = isTooMany
    ? `${title} accepts at most ${mostTools} tools, and these URLs have ${tools}: use fewer toolsets.`
    : "";
  return [note ?? "", more].filter((text) => text !== "").join(" ");
}

const VARIABLE = /^[A-Za-z_]\w*$/;
const KEY = /^[\w.~+/=-]+$/;

function keyOf(variable: string | undefined, literal: string | undefined): Key {
  if (literal !== undefined) {
    if (variable !== undefined) throw new UsageError("give --variable or --api-key, not both");
    if (!KEY.test(literal)) throw new UsageError("--api-key is not an API key: it has characters that no key has");
    return { literal };
  }
  const named = variable ?? keyVariableIn(process.env);
  if (!VARIABLE.test(named)) throw new UsageError(`${named} is not the name of an environment variable`);
  return { variable: named };
}
