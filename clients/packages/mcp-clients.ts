// How MCP clients are told of a server: where each keeps its configuration, and
// how it spells a header and the name of an environment variable in it. Every
// client spells it differently, and a wrong spelling is sent as if it were the key.

/** A server, as a client's configuration names it. */
export interface Entry {
  readonly name: string;
  readonly url: string;
}

/** A server of the service at a base URL. @param query of its URL, with the question mark; "" for none. */
export function entryOf(baseUrl: string, server: string, query = ""): Entry {
  return { name: `sallyport-${server}`, url: `${baseUrl}/mcp/${server}${query}` };
}

/** How the key gets into a configuration: by the name of an environment variable, or as it is. */
export type Key = { readonly variable: string } | { readonly literal: string };

/** One client. */
export interface McpClient {
  readonly name: string;
  readonly title: string;
  /** Where its configuration is. */
  readonly file: string;
  readonly language: "json" | "toml";
  /** What its model is sent of a list with every turn: all tools, or the names, from which it finds those that it needs; "none" if it has no model. */
  readonly sends: "all" | "names" | "none";
  /** The most tools of all servers together that it takes. */
  readonly mostTools?: number;
  /** What people should know before they use it. */
  readonly note?: string;
  /** The text of the file, where it has no servers yet. */
  config(entries: readonly Entry[], key: Key): string;
  /** What adds a server, or tries it, from a shell; absent where nothing does. */
  command?(entry: Entry, key: Key): string | undefined;
}

/** The environment variable that configurations name, where nobody says another. */
export const KEY_VARIABLE = "SERVICE_API_KEY";

/** The variable that configurations name here: API_KEY_VARIABLE, where it is set. */
export function keyVariableIn(env: Readonly<Record<string, string | undefined>>): string {
  return env.API_KEY_VARIABLE || KEY_VARIABLE;
}

type Spelling = (variable: string) => string;
const SHELL: Spelling = (variable) => `\${${variable}}`;
const EDITOR: Spelling = (variable) => `\${env:${variable}}`;

const bearer = (key: Key, spelling: Spelling): string =>
  `Bearer ${"literal" in key ? key.literal : spelling(key.variable)}`;
const json = (value: object): string => JSON.stringify(value, null, 2);
const byName = (entries: readonly Entry[], one: (entry: Entry) => object): object =>
  Object.fromEntries(entries.map((entry) => [entry.name, one(entry)]));
/** A header for a shell: in single quotes the client expands the variable, at each start. */
const header = (key: Key): string => `'Authorization: ${bearer(key, SHELL)}'`;
/** A URL as one word of a shell: a query has characters that shells read. */
const word = (url: string): string => (url.includes("?") ? `'${url}'` : url);
/** For a shell that expands the variable itself. */
const headerNow = (key: Key): string => `"Authorization: ${bearer(key, (variable) => `$${variable}`)}"`;

/** Every client of which we know how. */
export const MCP_CLIENTS: readonly McpClient[] = [
  {
    name: "claude-code",
    title: "Claude Code",
    file: ".mcp.json in the project, or ~/.claude.json",
    language: "json",
    sends: "names",
    config: (entries, key) => {
      const headers = { Authorization: bearer(key, SHELL) };
      return json({ mcpServers: byName(entries, ({ url }) => ({ type: "http", url, headers })) });
    },
    command: ({ name, url }, key) =>
      `claude mcp add -s user --transport http ${name} ${word(url)} --header ${header(key)}`,
  },
  {
    name: "codex",
    title: "Codex",
    file: "~/.codex/config.toml",
    language: "toml",
    sends: "all",
    note: "If the variable is not set, Codex starts without the server.",
    config: (entries, key) => entries.map((entry) => codexTable(entry, key)).join("\n\n"),
    command: ({ name, url }, key) =>
      "variable" in key ? `codex mcp add ${name} --url ${word(url)} --bearer-token-env-var ${key.variable}` : undefined,
  },
  {
    name: "gemini",
    title: "Gemini CLI",
    file: "~/.gemini/settings.json",
    language: "json",
    sends: "all",
    note: "In a folder that you do not trust, it starts without MCP servers.",
    config: (entries, key) => {
      const headers = { Authorization: bearer(key, SHELL) };
      return json({ mcpServers: byName(entries, ({ url }) => ({ httpUrl: url, headers })) });
    },
    command: ({ name, url }, key) => `gemini mcp add -s user -t http -H ${header(key)} ${name} ${word(url)}`,
  },
  {
    name: "copilot",
    title: "Copilot CLI",
    file: "~/.copilot/mcp-config.json",
    language: "json",
    sends: "all",
    config: (entries, key) => {
      const headers = { Authorization: bearer(key, SHELL) };
      return json({ mcpServers: byName(entries, ({ url }) => ({ type: "http", url, headers, tools: ["*"] })) });
    },
    command: ({ name, url }, key) => `copilot mcp add --transport http ${name} ${word(url)} --header ${header(key)}`,
  },
  {
    name: "vscode",
    title: "VS Code",
    file: ".vscode/mcp.json, or mcp.json of the profile",
    language: "json",
    sends: "all",
    mostTools: 128,
    note: "Without a variable, it asks for the key once and keeps it. It has the variables of a shell only if you start it from that shell.",
    config: (entries, key) => {
      const isAsked = "literal" in key;
      const Authorization = isAsked ? `Bearer \${input:${INPUT}}` : bearer(key, EDITOR);
      return json({
        ...(isAsked && { inputs: [{ type: "promptString", id: INPUT, description: "API key", password: true }] }),
        servers: byName(entries, ({ url }) => ({ type: "http", url, headers: { Authorization } })),
      });
    },
  },
  {
    name: "cursor",
    title: "Cursor",
    file: "~/.cursor/mcp.json, or .cursor/mcp.json in the project",
    language: "json",
    sends: "all",
    note: "It has the variables of a shell only if you start it from that shell.",
    config: (entries, key) => {
      const headers = { Authorization: bearer(key, EDITOR) };
      return json({ mcpServers: byName(entries, ({ url }) => ({ url, headers })) });
    },
  },
  {
    name: "inspector",
    title: "MCP Inspector",
    file: "the file that --config names",
    language: "json",
    sends: "none",
    note: "It needs Node 22.19 or newer. It does not expand variables in the file: if the key is in a variable, use the command.",
    config: (entries, key) => {
      const headers = { Authorization: bearer(key, SHELL) };
      return json({ mcpServers: byName(entries, ({ url }) => ({ type: "streamable-http", url, headers })) });
    },
    command: ({ url }, key) =>
      `npx @modelcontextprotocol/inspector --cli ${word(url)} --transport http --header ${headerNow(key)} --method tools/list`,
  },
  {
    name: "mcp-remote",
    title: "mcp-remote, for clients that only start programs (Claude Desktop)",
    file: "claude_desktop_config.json",
    language: "json",
    sends: "all",
    config: (entries, key) => {
      // One argument without a blank: some clients cut arguments there, so the blank is in a variable.
      const [value, env] =
        "literal" in key ? [SHELL(BRIDGED), { [BRIDGED]: bearer(key, SHELL) }] : [bearer(key, SHELL)];
      const args = (url: string): string[] => ["-y", "mcp-remote", url, "--header", `Authorization:${value}`];
      return json({
        mcpServers: byName(entries, ({ url }) => ({ command: "npx", args: args(url), ...(env && { env }) })),
      });
    },
    command: ({ url }, key) => `npx -y mcp-remote ${word(url)} --header ${headerNow(key)}`,
  },
];

/** By which VS Code remembers what it asked. */
const INPUT = "sallyport-api-key";
/** What mcp-remote reads the header's value from. */
const BRIDGED = "AUTH_HEADER";

function codexTable({ name, url }: Entry, key: Key): string {
  const credential =
    "literal" in key
      ? `http_headers = { Authorization = ${JSON.stringify(bearer(key, SHELL))} }`
      : `bearer_token_env_var = ${JSON.stringify(key.variable)}`;
  return `[mcp_servers.${name}]\nurl = ${JSON.stringify(url)}\n${credential}`;
}
