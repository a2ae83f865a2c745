import type { Entry, Key, McpClient } from "./client.js";
import { cursorLinks, prompted, promptFor, vscodeLinks } from "./links.js";
import { readsAgentPlugin, STARTED_FROM_A_MENU, UNDER_ANOTHER_NAME } from "./notes.js";
import { atHome, inProject, onEach } from "./places.js";
import { authorization, byName, EDITOR, json, KEY_VARIABLE } from "./spellings.js";

// Editors.

/** VS Code. It asks for the key: whether it expands a variable in a header depends on its version. */
export const vscode: McpClient = {
  name: "vscode",
  title: "VS Code",
  places: [
    onEach(
      "~/Library/Application Support/Code/User/mcp.json",
      "~/.config/Code/User/mcp.json",
      "%APPDATA%\\Code\\User\\mcp.json",
    ),
    inProject(".vscode/mcp.json"),
  ],
  language: "json",
  sends: "all",
  mostTools: 128,
  notes: [
    { about: "key", text: "VS Code asks for the key once and stores it. The file does not contain it." },
    {
      about: "more",
      text: "The command “MCP: Open User Configuration” opens your file, also that of another profile.",
    },
    { about: "trust", text: "VS Code asks before it starts a server of a project." },
    readsAgentPlugin(
      "VS Code",
      "Unpack it, then name the folder in the setting chat.pluginLocations; chat.plugins.enabled must be on.",
      UNDER_ANOTHER_NAME,
    ),
  ],
  config: (entries, key) => {
    const variable = "literal" in key ? KEY_VARIABLE : key.variable;
    return json({
      inputs: [promptFor(variable)],
      servers: byName(entries, (entry) => prompted(entry, variable)),
    });
  },
  alternative: {
    title: "With the environment variable",
    note: "Take it only if your version of VS Code expands variables in headers: others send the name of the variable as the key. If the variable is not set, VS Code sends an empty key.",
    config: (entries, variable) => {
      const headers = authorization({ variable }, EDITOR);
      return json({ servers: byName(entries, ({ url }) => ({ type: "http", url, headers })) });
    },
  },
  links: vscodeLinks,
};

/** Cursor. */
export const cursor: McpClient = {
  name: "cursor",
  title: "Cursor",
  places: [atHome(".cursor/mcp.json"), inProject(".cursor/mcp.json")],
  language: "json",
  sends: "all",
  notes: [
    STARTED_FROM_A_MENU,
    readsAgentPlugin("Cursor", "Unpack it, then load the folder as a local plugin.", UNDER_ANOTHER_NAME),
  ],
  config: (entries, key) => {
    const headers = authorization(key, EDITOR);
    return json({ mcpServers: byName(entries, ({ url }) => ({ url, headers })) });
  },
  links: cursorLinks,
};

/** Windsurf, with its agent Cascade. */
export const windsurf: McpClient = {
  name: "windsurf",
  title: "Windsurf",
  places: [
    atHome(".codeium/windsurf/mcp_config.json"),
    { ...atHome(".codeium/mcp_config.json"), remark: "the plugin for JetBrains" },
  ],
  language: "json",
  sends: "all",
  notes: [
    STARTED_FROM_A_MENU,
    {
      about: "more",
      text: "These are the files of the agent Cascade. The agent Devin Local has files of its own (~/.config/devin/mcp_config.json, on Windows %APPDATA%\\devin\\mcp_config.json, in a project .devin/mcp_config.json). Their format is not verified here.",
    },
  ],
  config: (entries, key) => {
    const headers = authorization(key, EDITOR);
    return json({ mcpServers: byName(entries, ({ url }) => ({ serverUrl: url, headers })) });
  },
};

/** Zed. It has no reference to a variable: it would send the text. */
export const zed: McpClient = {
  name: "zed",
  title: "Zed",
  places: [onEach("~/.config/zed/settings.json", "~/.config/zed/settings.json", "%APPDATA%\\Zed\\settings.json")],
  language: "json",
  sends: "all",
  notes: [
    {
      about: "key",
      text: "Zed does not read a key from an environment variable. Its fragment has no header, or it contains the key itself.",
    },
    { about: "sign-in", text: "Without a header, Zed signs you in with OAuth." },
  ],
  config: zedConfig,
  alternative: {
    title: "With a key",
    note: "Replace YOUR_API_KEY by your key, and treat the file like a password.",
    config: (entries) => zedConfig(entries, { literal: "YOUR_API_KEY" }),
  },
};

function zedConfig(entries: readonly Entry[], key: Key): string {
  const own = "literal" in key ? { headers: { Authorization: `Bearer ${key.literal}` } } : {};
  return json({ context_servers: byName(entries, ({ url }) => ({ url, ...own })) });
}
