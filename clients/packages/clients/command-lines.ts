import type { Entry, Key, McpClient } from "./client.js";
import { readsAgentPlugin } from "./notes.js";
import { atHome, inProject } from "./places.js";
import { authorization, bearer, byName, header, json, SHELL, tomlKey, tomlText, word } from "./spellings.js";

// Clients that people use in a shell.

/** Claude Code. */
export const claudeCode: McpClient = {
  name: "claude-code",
  title: "Claude Code",
  places: [atHome(".claude.json"), inProject(".mcp.json")],
  language: "json",
  sends: "names",
  notes: [
    {
      about: "unset",
      text: "Claude Code warns, and sends the name of the variable as the key. The service refuses it and says why.",
    },
    { about: "trust", text: "Claude Code asks before it uses the servers of a project." },
  ],
  config: (entries, key) => {
    const headers = authorization(key, SHELL);
    return json({ mcpServers: byName(entries, ({ url }) => ({ type: "http", url, headers })) });
  },
  command: ({ name, url }, key) =>
    `claude mcp add -s user --transport http ${word(name)} ${word(url)} --header ${header(key)}`,
};

/** Codex. */
export const codex: McpClient = {
  name: "codex",
  title: "Codex",
  places: [atHome(".codex/config.toml"), inProject(".codex/config.toml")],
  language: "toml",
  sends: "all",
  notes: [
    { about: "unset", text: "Codex starts without the server." },
    { about: "key", text: "If CODEX_HOME is set, your file is config.toml in that folder." },
    { about: "trust", text: "Codex reads the file of a project only if you trust the project." },
    readsAgentPlugin(
      "Codex",
      "Codex installs it from a marketplace.",
      "To use a key, add this fragment: it replaces the entry of the package, which has the same name.",
    ),
  ],
  config: (entries, key) => entries.map((entry) => codexTable(entry, key)).join("\n\n"),
  command: ({ name, url }, key) =>
    "variable" in key
      ? `codex mcp add ${word(name)} --url ${word(url)} --bearer-token-env-var ${key.variable}`
      : undefined,
};

/** Codex takes the name of the variable. It refuses to start if it finds a key as `bearer_token`. */
function codexTable({ name, url }: Entry, key: Key): string {
  const credential =
    "literal" in key
      ? `http_headers = { Authorization = ${tomlText(bearer(key, SHELL))} }`
      : `bearer_token_env_var = ${tomlText(key.variable)}`;
  return `[mcp_servers.${tomlKey(name)}]\nurl = ${tomlText(url)}\n${credential}`;
}

/** Gemini CLI. */
export const gemini: McpClient = {
  name: "gemini",
  title: "Gemini CLI",
  places: [atHome(".gemini/settings.json"), inProject(".gemini/settings.json")],
  language: "json",
  sends: "all",
  notes: [
    {
      about: "unset",
      text: "Gemini CLI sends an empty key. The service refuses it, and Gemini CLI shows that the server is not connected.",
    },
    { about: "trust", text: "In a folder that you do not trust, Gemini CLI starts without MCP servers." },
  ],
  config: (entries, key) => {
    const headers = authorization(key, SHELL);
    return json({ mcpServers: byName(entries, ({ url }) => ({ httpUrl: url, headers })) });
  },
  command: ({ name, url }, key) => `gemini mcp add -s user -t http -H ${header(key)} ${word(name)} ${word(url)}`,
};

/** Copilot CLI. */
export const copilot: McpClient = {
  name: "copilot",
  title: "Copilot CLI",
  places: [atHome(".copilot/mcp-config.json"), inProject(".mcp.json"), inProject(".github/mcp.json")],
  language: "json",
  sends: "all",
  notes: [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: these are the spellings of Copilot CLI.
    { about: "key", text: "Copilot CLI expands ${NAME} and $NAME, and not ${env:NAME}." },
    readsAgentPlugin(
      "Copilot CLI",
      "Unpack it, then: copilot plugin install ./FOLDER.",
      "To use a key, add this fragment under another name: if two entries have one name, Copilot CLI takes that of the package.",
    ),
  ],
  config: (entries, key) => {
    const headers = authorization(key, SHELL);
    return json({ mcpServers: byName(entries, ({ url }) => ({ type: "http", url, headers, tools: ["*"] })) });
  },
  command: ({ name, url }, key) =>
    `copilot mcp add --transport http ${word(name)} ${word(url)} --header ${header(key)}`,
};
