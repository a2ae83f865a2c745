// The ways in which a person gives a client the tools of a server: with a package, by the steps that its
// README says, or with a fragment of its configuration.

import { dirname, join } from "node:path";
import { entryOf } from "../../../clients/packages/mcp-clients.js";
import { startExtension } from "../../support/desktop.js";
import type { packagesOf, Unpacked } from "../../support/packages.js";
import { HOSTS, type Host } from "../hosts.js";
import type { Wish } from "../model.js";
import { type More, type OpenHost, type Outcome, openHost } from "../run.js";

/** The server of every way. */
export const SERVER = "cti";
const NAME = `sallyport-${SERVER}`;
const WHOAMI: Wish = { tool: "whoami", arguments: {} };

/** What ways have in common. */
export interface Bench {
  readonly baseUrl: string;
  readonly packages: ReturnType<typeof packagesOf>;
  /** Where a client is installed. */
  folderOf(client: string): string;
}

/** A client that has the server. */
export interface Connected {
  /** The id of its key, which nothing else has. */
  readonly keyId: string;
  /** The client's next request: what its model is shown, and what its user reads. */
  ask(): Promise<Pick<Outcome, "tools" | "result" | "output">>;
  close(): Promise<void>;
}

/** A way. */
export interface Way {
  readonly client: string;
  readonly how: string;
  connect(bench: Bench): Promise<Connected>;
}

const hostOf = (name: string): Host => {
  const host = HOSTS.find((one) => one.name === name);
  if (host === undefined) throw new Error(`there is no client ${name}`);
  return host;
};

const connected = (host: OpenHost, keyId: string, more?: More): Connected => ({
  keyId,
  ask: () => host.run(more),
  close: async () => host.close(),
});

/** A command that must succeed, as far as its words say. */
async function must(host: OpenHost, args: readonly string[], input?: string): Promise<void> {
  const said = await host.shell(args, input);
  if (/error|fail|✘/i.test(said)) throw new Error(`${args.join(" ")}: ${said.trim()}`);
}

/** The lines of a README that are commands of a client, without the client's name. */
function commandsIn({ files }: Unpacked, client: string): string[][] {
  const readme = files.get(`${NAME}/README.md`)?.toString() ?? "";
  const lines = [...readme.matchAll(/^ {4}(.*)$/gm)].map(([, line]) => line as string);
  const own = lines.filter((line) => line.startsWith(`${client} `));
  if (own.length === 0) throw new Error(`the README of the package has no command of ${client}`);
  return own.map((line) => [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, a, b]) => a ?? (b as string)).slice(1));
}

/** A fragment of the configuration, as `clients show` and the console give it. */
function fragment(client: string, isWritten: boolean): Way {
  return {
    client,
    how: `fragment, key ${isWritten ? "written in" : "in a variable"}`,
    async connect({ baseUrl, packages, folderOf }) {
      const { id, token } = await packages.createKey(SERVER);
      const trial = { entries: [entryOf(baseUrl, SERVER)], key: token, wish: WHOAMI, isWritten };
      return connected(await openHost(hostOf(client), folderOf(client), trial), id);
    },
  };
}

/** Without an entry of its own in the client's configuration. */
const NOTHING = { entries: [], wish: WHOAMI };
const ALLOWED = ["--allowedTools", `mcp__plugin_${NAME}_${SERVER}`];

/** The plugin of Claude Code. @param isInstalled from its unpacked folder; otherwise the zip, for each session. */
function claudePlugin(isInstalled: boolean, isKeyed: boolean): Way {
  const place = isInstalled ? "installed from its folder" : "zip with --plugin-dir";
  return {
    client: "claude-code",
    how: `plugin, ${place}, key ${isKeyed ? "written in" : "by `plugin configure`"}`,
    async connect({ packages, folderOf }) {
      const built = await packages.build(SERVER, "claude-code", isKeyed);
      const { id, token } = isKeyed ? { id: built.keyId as string, token: "" } : await packages.createKey(SERVER);
      const host = await openHost(hostOf("claude-code"), folderOf("claude-code"), { ...NOTHING, key: token });
      const before = isInstalled ? [] : ["--plugin-dir", built.file];
      if (isInstalled) {
        // A second server, whose marketplace must not take the place of the first.
        const other = await packages.build("grc", "claude-code");
        for (const { folder } of [built, other]) {
          const name = folder.split("/").at(-1) as string;
          await must(host, ["plugin", "marketplace", "add", folder]);
          await must(host, ["plugin", "install", `${name}@${name}`]);
        }
      }
      if (!isKeyed) {
        const id = `${NAME}@${isInstalled ? NAME : "inline"}`;
        const configure = ["plugin", "configure", id, "--values-stdin"];
        await must(host, [...before, ...configure], JSON.stringify({ api_key: token }));
      }
      return connected(host, id, { before, more: ALLOWED });
    },
  };
}

/** The agent plugin, installed by the commands of its README, which also say how the client gets its key. */
function agentPlugin(client: string): Way {
  return {
    client,
    how: "agent plugin, by the commands of its README",
    async connect({ packages, folderOf }) {
      const built = await packages.build(SERVER, "agent-plugin");
      const { id, token } = await packages.createKey(SERVER);
      const host = await openHost(hostOf(client), folderOf(client), { ...NOTHING, key: token });
      for (const args of commandsIn(built, client))
        await must(
          host,
          args.map((arg) => (arg.startsWith("./") ? join(dirname(built.folder), arg) : arg)),
        );
      return connected(host, id);
    },
  };
}

/** The desktop extension, started as its host starts it; it runs until the end. */
function extension(isKeyed: boolean): Way {
  return {
    client: "mcpb",
    how: `desktop extension, key ${isKeyed ? "written in" : "entered in the host"}`,
    async connect({ packages, folderOf }) {
      const { folder, keyId } = await packages.build(SERVER, "mcpb", isKeyed);
      const { id, token } = isKeyed ? { id: keyId as string, token: "" } : await packages.createKey(SERVER);
      if (!isKeyed && (await startExtension(folderOf("mcpb"), folder)) !== undefined)
        throw new Error("the host starts the extension before the person entered a key");
      const client = await startExtension(folderOf("mcpb"), folder, isKeyed ? {} : { api_key: token });
      if (client === undefined) throw new Error("the host does not start the extension: it still asks for something");
      return {
        keyId: id,
        async ask() {
          try {
            const { tools } = await client.listTools();
            const called = await client.callTool({ name: WHOAMI.tool, arguments: {} });
            return { tools: tools.length, result: JSON.stringify(called.content), output: "" };
          } catch (error) {
            return { tools: 0, result: undefined, output: (error as Error).message };
          }
        },
        close: () => client.close(),
      };
    },
  };
}

/** Every way. */
export const WAYS: readonly Way[] = [
  extension(true),
  extension(false),
  claudePlugin(false, true),
  claudePlugin(false, false),
  claudePlugin(true, true),
  claudePlugin(true, false),
  fragment("claude-code", false),
  agentPlugin("codex"),
  fragment("codex", false),
  fragment("codex", true),
  agentPlugin("copilot"),
  fragment("copilot", false),
  fragment("gemini", false),
];
