// Runs one real MCP client against a service, to its end, and reads what came of it.

import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { type Entry, KEY_VARIABLE, type Key } from "../../clients/packages/mcp-clients.js";
import type { Host, Run } from "./hosts.js";
import { type Model, startModel, type Wish } from "./model.js";

const LIMIT_MS = 90_000;
const REFERENCE = `$${`{${KEY_VARIABLE}}`}`;

/** What a host is run for. */
export interface Trial {
  readonly entries: readonly Entry[];
  readonly key: string;
  readonly wish: Wish;
  /** The key is in the configuration, and in no variable. */
  readonly isWritten?: boolean;
  /** More of its environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** What came of one run of a host. */
export interface Outcome {
  readonly tools: number;
  /** What is shown of the tool's answer. */
  readonly result: string | undefined;
  /** What its user can read. */
  readonly output: string;
  /** Its log files, for those who know them. */
  readonly logs?: string;
  /** The bytes that it sends its model with one turn; of a client without a model, 0. */
  readonly turn: number;
}

/** What npm installs for a client. */
export type Installable = Pick<Host, "name" | "packages" | "bin">;

/** Installs a host's packages in a folder, if they are not there. */
export function install(host: Installable, folder: string): boolean {
  if (existsSync(join(folder, "node_modules/.bin", host.bin.at(-1) as string))) return true;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), "{}");
  const args = ["install", "--no-audit", "--no-fund", "--loglevel=error", ...host.packages];
  return spawnSync("npm", args, { cwd: folder, stdio: ["ignore", "ignore", 2] }).status === 0;
}

/** Runs a command to its end, or for as long as it may take. */
async function output(
  command: readonly string[],
  env: Record<string, string>,
  cwd: string,
  input?: string,
): Promise<string> {
  const [program = "", ...args] = command;
  const child = spawn(program, args, {
    cwd,
    env,
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    detached: true,
  });
  child.stdin?.on("error", () => {}).end(input);
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => (said += chunk));
  const timer = setTimeout(() => process.kill(-(child.pid as number), "SIGKILL"), LIMIT_MS);
  await new Promise((resolve) => child.on("close", resolve));
  clearTimeout(timer);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
  return said.replace(/\u001b\[[0-9;?]*[a-zA-Z]/g, "");
}

/** What the client that it bridges sees of it. */
async function bridged(command: readonly string[], env: Record<string, string>, wish: Wish): Promise<Outcome> {
  const [program = "", ...args] = command;
  const transport = new StdioClientTransport({ command: program, args: [...args], env, stderr: "pipe" });
  let said = "";
  transport.stderr?.on("data", (chunk: Buffer) => (said += chunk));
  const client = new Client({ name: "clients-table", version: "1" });
  try {
    await client.connect(transport as never, { timeout: 20_000 });
    const { tools } = await client.listTools();
    const called = await client.callTool({ name: wish.tool, arguments: { ...wish.arguments } });
    const result = (called.content as { text?: string }[]).map(({ text }) => text ?? "").join("\n");
    return { tools: tools.length, result, output: said, turn: 0 };
  } catch (error) {
    return { tools: 0, result: undefined, output: `${said}\n${(error as Error).message}`, turn: 0 };
  } finally {
    await client.close();
  }
}

/** A host that asks a model: what it shows the model and, if it shows no answer, what its user reads of its servers. */
async function asked(
  host: Host,
  model: Model,
  runs: (args: readonly string[]) => Promise<string>,
  { args, more, before }: { readonly args: readonly string[] } & More,
) {
  Object.assign(model.seen, { tools: [], result: undefined, turn: 0 });
  let said = await runs([...before, ...args, ...more]);
  const { tools, result, turn } = model.seen;
  if (host.status !== undefined && result === undefined) said += await runs([...before, ...host.status]);
  return { tools: tools.filter((name) => name.includes("sallyport")).length, result, output: said, turn };
}

/** A client that prints what a server answers. */
async function printed(host: Host, runs: (args: readonly string[]) => Promise<string>, run: Run): Promise<Outcome> {
  const said = await runs(host.prepare(run).args);
  const listed = await runs(host.prepare({ ...run, call: undefined }).args);
  const [, text] = /"text": ("(?:[^"\\]|\\.)*")/.exec(said) ?? [];
  const result = text === undefined ? undefined : (JSON.parse(text) as string);
  return { tools: listed.match(/"inputSchema"/g)?.length ?? 0, result, output: said, turn: 0 };
}

/** Everything that was written into files of this ending. */
function logsIn(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".log"))
    .map((file) => readFileSync(join(folder, file), "utf8"))
    .join("\n");
}

/** More arguments of a host: before its own, for whatever it does, and after those of its task. */
export interface More {
  readonly before: readonly string[];
  readonly more: readonly string[];
}

/** A host with a home of its own, which is kept from one run to the next. */
export interface OpenHost {
  readonly home: string;
  /** Runs it on its task. */
  run(more?: More): Promise<Outcome>;
  /** Runs another command of it. @returns what it says. */
  shell(args: readonly string[], input?: string): Promise<string>;
  close(): void;
}

/** Gives a host its home and its configuration. @param folder where the host is installed. */
export async function openHost(host: Host, folder: string, trial: Trial): Promise<OpenHost> {
  const { entries, key, wish, isWritten = false } = trial;
  const home = mkdtempSync(join(tmpdir(), `sallyport-${host.name}-`));
  const model = await startModel(wish);
  const how: Key = isWritten ? { literal: key } : { variable: KEY_VARIABLE };
  const run: Run = { home, entries, key: how, model: model.url, call: wish };
  const bin = host.bin.map((name) => join(folder, "node_modules/.bin", name));
  const { args, env } = host.prepare(run);
  const own = {
    PATH: process.env.PATH ?? "",
    HOME: home,
    ...(!isWritten && { [KEY_VARIABLE]: key }),
    ...env,
    ...trial.env,
  };
  // What prints is started from a shell, which expands the variable.
  const expanded = (arg: string): string => (host.kind === "output" ? arg.replace(REFERENCE, key) : arg);
  const runs = (more: readonly string[], input?: string): Promise<string> =>
    output([...bin, ...more.map(expanded)], own, home, input);
  return {
    home,
    async run({ before, more } = { before: [], more: [] }) {
      if (host.kind === "bridge") return bridged([...bin, ...args], own, wish);
      if (host.kind === "output") return printed(host, runs, run);
      return { ...(await asked(host, model, runs, { args, more, before })), logs: logsIn(home) };
    },
    shell: runs,
    close() {
      model.close();
      rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
}

/** Runs a host once. @param folder where it is installed. */
export async function runHost(host: Host, folder: string, trial: Trial): Promise<Outcome> {
  const open = await openHost(host, folder, trial);
  try {
    return await open.run();
  } finally {
    open.close();
  }
}
