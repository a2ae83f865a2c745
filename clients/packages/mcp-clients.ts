// The one table of MCP clients: how each is configured for a server. clients/ has one idea a file.

import type { Connector, McpClient } from "./clients/client.js";
import { claudeCode, codex, copilot, gemini } from "./clients/command-lines.js";
import { chatgpt, claude } from "./clients/connectors.js";
import { cursor, vscode, windsurf, zed } from "./clients/editors.js";
import { generic, inspector, mcpRemote } from "./clients/others.js";

export { ABOUT, type Connector, type Entry, entryOf, type Key, type McpClient } from "./clients/client.js";
export { isVariable, KEY_VARIABLE, keyVariableIn } from "./clients/spellings.js";

/** Every client that reads a configuration. */
export const MCP_CLIENTS: readonly McpClient[] = [
  claudeCode,
  codex,
  gemini,
  copilot,
  vscode,
  cursor,
  windsurf,
  zed,
  generic,
  inspector,
  mcpRemote,
];

/** Every client that takes a URL alone. */
export const CONNECTORS: readonly Connector[] = [claude, chatgpt];
