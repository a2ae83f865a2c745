import type { McpClient } from "./client.js";
import { STARTED_FROM_A_MENU } from "./notes.js";
import { onEach } from "./places.js";
import { authorization, bearer, byName, headerNow, json, SHELL, word } from "./spellings.js";

// The form that most clients read, a client for trying servers, and a bridge.

/** Any client that reads `mcpServers`. */
export const generic: McpClient = {
  name: "generic",
  title: "Other clients (mcpServers)",
  places: [],
  file: "the file with mcpServers that your client reads",
  language: "json",
  sends: "all",
  notes: [
    {
      about: "key",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: these are spellings.
      text: "Clients spell a variable differently: ${NAME}, ${env:NAME}, {env:NAME}. If yours does not expand this spelling, it sends the text as the key. The service refuses it and says why.",
    },
  ],
  config: (entries, key) => {
    const headers = authorization(key, SHELL);
    return json({ mcpServers: byName(entries, ({ url }) => ({ type: "http", url, headers })) });
  },
};

/** MCP Inspector. */
export const inspector: McpClient = {
  name: "inspector",
  title: "MCP Inspector",
  places: [],
  file: "the file that --config names",
  language: "json",
  sends: "none",
  notes: [
    { about: "more", text: "It needs Node 22.19 or newer." },
    {
      about: "key",
      text: "It does not expand variables in the file, so the fragment has no header. If the key is in a variable, use the command.",
    },
  ],
  config: (entries, key) => {
    const own = "literal" in key ? { headers: authorization(key, SHELL) } : {};
    return json({ mcpServers: byName(entries, ({ url }) => ({ type: "streamable-http", url, ...own })) });
  },
  command: ({ url }, key) =>
    `npx @modelcontextprotocol/inspector --cli ${word(url)} --transport http --header ${headerNow(key)} --method tools/list`,
};

/** What mcp-remote reads the header's value from. */
const BRIDGED = "AUTH_HEADER";

/** mcp-remote, which clients start that read only entries with a command. */
export const mcpRemote: McpClient = {
  name: "mcp-remote",
  title: "mcp-remote, for clients that only start programs (Claude Desktop)",
  places: [
    onEach(
      "~/Library/Application Support/Claude/claude_desktop_config.json",
      "~/.config/Claude/claude_desktop_config.json",
      "%APPDATA%\\Claude\\claude_desktop_config.json",
    ),
  ],
  language: "json",
  sends: "all",
  notes: [
    {
      about: "package",
      text: "Claude Desktop skips an entry that has a URL. Its package (.mcpb) needs no configuration file and no npx.",
    },
    STARTED_FROM_A_MENU,
  ],
  config: (entries, key) => {
    // One argument without a blank: some clients cut arguments there, so the blank is in a variable.
    const [value, env] = "literal" in key ? [SHELL(BRIDGED), { [BRIDGED]: bearer(key, SHELL) }] : [bearer(key, SHELL)];
    const args = (url: string): string[] => ["-y", "mcp-remote", url, "--header", `Authorization:${value}`];
    return json({
      mcpServers: byName(entries, ({ url }) => ({ command: "npx", args: args(url), ...(env && { env }) })),
    });
  },
  command: ({ url }, key) => `npx -y mcp-remote ${word(url)} --header ${headerNow(key)}`,
};
