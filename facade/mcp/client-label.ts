import { isObject } from "./json-rpc.js";

/** A client that gives no name. */
const UNKNOWN = "unknown";
/** A client that is not in the table. */
const OTHER = "other";

/** Labels of known clients, by what the name begins with that they give: in clientInfo, or in User-Agent. The first fits. */
const CLIENTS: readonly (readonly [string, RegExp])[] = [
  ["claude-code", /^claude[- ]code/],
  ["claude", /^(?:claude|anthropic)/],
  ["chatgpt", /^(?:openai-mcp|chatgpt)/],
  ["codex", /^codex/],
  ["copilot", /^(?:github-)?copilot/],
  ["cursor", /^cursor/],
  ["vscode", /^(?:visual studio code|vscode|code-oss)/],
  ["visual-studio", /^visual ?studio/],
  ["gemini-cli", /^gemini/],
  ["windsurf", /^windsurf/],
  ["cline", /^cline/],
  ["roo-code", /^roo/],
  ["continue", /^continue/],
  ["zed", /^zed/],
  ["jetbrains", /^(?:jetbrains|intellij)/],
  ["kiro", /^(?:kiro|amazon ?q|q-dev)/],
  ["goose", /^goose/],
  ["opencode", /^opencode/],
  ["librechat", /^(?:@librechat|librechat)/],
  ["open-webui", /^open-?webui/],
  ["n8n", /^(?:@n8n|n8n)/],
  ["inspector", /^(?:mcp-)?inspector/],
  ["mcp-remote", /^mcp-remote/],
  ["python", /^(?:mcp$|python|aiohttp)/],
  ["node", /^(?:node|undici)/],
  ["go", /^go-/],
  ["java", /^(?:java|spring)/],
  ["rust", /^(?:rmcp|reqwest)/],
  ["curl", /^curl/],
];

/** Every label: the list is closed, so that no caller can add to it. */
export const CLIENT_LABELS: readonly string[] = [...CLIENTS.map(([label]) => label), OTHER, UNKNOWN];

/** Longest part of a name that is looked at, in characters. */
const MAX_LOOKED = 64;
const MAX_KEPT = 512;
/** Names come again and again. */
const kept = new Map<string, string>();

/** The label of a client by its own name; "unknown" for none. */
export function clientLabelOf(name: string | undefined): string {
  if (name === undefined || name === "") return UNKNOWN;
  const known = kept.get(name);
  if (known !== undefined) return known;
  const start = name.slice(0, MAX_LOOKED).trim().toLowerCase();
  const label = CLIENTS.find(([, pattern]) => pattern.test(start))?.[0] ?? OTHER;
  if (name.length > MAX_LOOKED) return label;
  if (kept.size >= MAX_KEPT) kept.clear();
  kept.set(name, label);
  return label;
}

/** The label of a client by its clientInfo; undefined if that has no name. */
export function clientLabelIn(info: unknown): string | undefined {
  return isObject(info) && typeof info.name === "string" ? clientLabelOf(info.name) : undefined;
}
