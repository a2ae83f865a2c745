import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Entry, KEY_VARIABLE, type Key, MCP_CLIENTS } from "../../clients/packages/mcp-clients.js";

// How each real host is started on a task without a person, with the very
// configuration that `clients show` prints.

/** What a host is run with. */
export interface Run {
  /** An empty folder: its home and its working directory. */
  readonly home: string;
  /** The servers in its configuration; clients without a model take one. */
  readonly entries: readonly Entry[];
  /** How its configuration has the key. */
  readonly key: Key;
  /** The URL of the model that it is to ask. */
  readonly model: string;
  /** Of a client without a model: what it is to call; absent to list. */
  readonly call?: { readonly tool: string; readonly arguments: Readonly<Record<string, unknown>> } | undefined;
}

/** A command. */
export interface Start {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A real MCP client. */
export interface Host {
  /** As in MCP_CLIENTS. */
  readonly name: string;
  /** What npm installs. */
  readonly packages: readonly string[];
  /** Below node_modules/.bin, and what runs it where Node 20 does not. */
  readonly bin: readonly [string, ...string[]];
  /** What shows an answer: a model that the host asks, its own output, or the client that it bridges. */
  readonly kind: "model" | "output" | "bridge";
  prepare(run: Run): Start;
  /** The environment in which it sends names and searches the tools; absent if it always sends whole lists. */
  readonly deferring?: Readonly<Record<string, string>>;
  /** What people ask why a server is not there; absent where prepare's command says it. */
  status?: readonly string[];
}

const TASK = "Call the tool, then stop.";

function configOf(name: string, { entries, key }: Run): string {
  const client = MCP_CLIENTS.find((one) => one.name === name);
  if (client === undefined) throw new Error(`there is no client ${name}`);
  return client.config(entries, key);
}

/** The one server of a client without a model. */
function onlyOf({ entries }: Run): Entry {
  const [entry] = entries;
  if (entry === undefined || entries.length > 1) throw new Error("a client without a model takes one server");
  return entry;
}

function write(folder: string, path: string, content: string): string {
  const file = join(folder, path);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, content);
  return file;
}

/** Every host of which we know how to start it. */
export const HOSTS: readonly Host[] = [
  {
    name: "claude-code",
    packages: ["@anthropic-ai/claude-code@2.1.329"],
    bin: ["claude"],
    kind: "model",
    status: ["mcp", "list"],
    deferring: { ENABLE_TOOL_SEARCH: "true" },
    prepare(run) {
      const { home, entries, model } = run;
      write(home, ".claude.json", configOf("claude-code", run));
      return {
        args: ["-p", TASK, "--allowedTools", entries.map(({ name }) => `mcp__${name}`).join(",")],
        env: {
          CLAUDE_CONFIG_DIR: home,
          ANTHROPIC_BASE_URL: model,
          ANTHROPIC_API_KEY: "none",
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
          DISABLE_AUTOUPDATER: "1",
          ENABLE_TOOL_SEARCH: "false",
        },
      };
    },
  },
  {
    name: "codex",
    packages: ["@openai/codex@0.169.0"],
    bin: ["codex"],
    kind: "model",
    prepare(run) {
      const { home, model } = run;
      const provider = `[model_providers.mock]\nname = "mock"\nbase_url = "${model}/v1"\nwire_api = "responses"\n`;
      const own = `model = "mock"\nmodel_provider = "mock"\n\n${provider}\n`;
      write(home, "config.toml", own + configOf("codex", run));
      return {
        args: ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", TASK],
        env: { CODEX_HOME: home },
      };
    },
  },
  {
    name: "gemini",
    packages: ["@google/gemini-cli@0.61.0"],
    bin: ["gemini"],
    kind: "model",
    status: ["mcp", "list"],
    prepare(run) {
      const { home, model } = run;
      const security = { folderTrust: { enabled: false }, auth: { selectedType: "gemini-api-key" } };
      const settings = {
        ...JSON.parse(configOf("gemini", run)),
        security,
        privacy: { usageStatisticsEnabled: false },
      };
      write(home, ".gemini/settings.json", JSON.stringify(settings));
      return {
        args: ["-p", TASK, "--yolo", "-m", "gemini-2.5-flash"],
        env: { GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: model, GEMINI_CLI_TRUST_WORKSPACE: "true" },
      };
    },
  },
  {
    name: "copilot",
    packages: ["@github/copilot@1.0.102"],
    bin: ["copilot"],
    kind: "model",
    prepare(run) {
      const { home, model } = run;
      write(home, ".copilot/mcp-config.json", configOf("copilot", run));
      return {
        args: ["-p", TASK, "--allow-all-tools", "--no-color", "--disable-builtin-mcps"],
        env: {
          COPILOT_OFFLINE: "true",
          COPILOT_PROVIDER_BASE_URL: `${model}/v1`,
          COPILOT_PROVIDER_API_KEY: "none",
          COPILOT_MODEL: "mock",
          COPILOT_AUTO_UPDATE: "false",
        },
      };
    },
  },
  {
    name: "inspector",
    packages: ["node@22", "@modelcontextprotocol/inspector@2.12.0"],
    bin: ["node", "mcp-inspector"],
    kind: "output",
    prepare(run) {
      const { home, key, call } = run;
      const entry = onlyOf(run);
      const header = ["--transport", "http", "--header", `Authorization: Bearer $${`{${KEY_VARIABLE}}`}`];
      const config = write(home, "mcp.json", configOf("inspector", run));
      const place = "literal" in key ? ["--config", config, "--server", entry.name] : [entry.url, ...header];
      const at = ["--cli", ...place, "--stored-auth-only"];
      if (call === undefined) return { args: [...at, "--method", "tools/list"] };
      const pairs = Object.entries(call.arguments).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
      const args = pairs.length === 0 ? [] : ["--tool-arg", ...pairs];
      return { args: [...at, "--method", "tools/call", "--tool-name", call.tool, ...args] };
    },
  },
  {
    name: "mcp-remote",
    packages: ["mcp-remote@0.15.1"],
    bin: ["mcp-remote"],
    kind: "bridge",
    prepare(run) {
      const { mcpServers } = JSON.parse(configOf("mcp-remote", run)) as { mcpServers: Record<string, Start> };
      const { args = [], env = {} } = mcpServers[onlyOf(run).name] ?? {};
      // npx's own arguments come first.
      return { args: args.slice(2), env };
    },
  },
];
