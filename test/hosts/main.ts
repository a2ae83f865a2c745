// npm run clients:table [-- FOLDER [NAME…]]: the real MCP clients from npm, each with
// the configuration that `clients show` prints, against the built program: what they
// list, what their model is shown, and what their user reads of a bad key. Prints a table.
// FOLDER keeps the packages for the next time. Not part of npm test: it takes 2 GB of disk.

import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { entryOf, KEY_VARIABLE, type Key } from "../../clients/cli/mcp-clients.js";
import { NO_SIGN_IN } from "../../facade/http/routes/client-registration.js";
import { type Program, startProgram } from "../support/program.js";
import { HOSTS, type Host, type Run } from "./hosts.js";
import { type Model, startModel, type Wish } from "./model.js";

const LIMIT_MS = 90_000;
const REFERENCE = `$${`{${KEY_VARIABLE}}`}`;
const WHOAMI: Wish = { tool: "whoami", arguments: {} };
const ROWS: Wish = { tool: "list_observables", arguments: { page_size: 100 } };
const MISSING: Wish = { tool: "get_entity", arguments: { object_id: "00000000-0000-4000-8000-000000000000" } };

/** The packages of a host, and what it is tried against. */
interface Bench {
  readonly folder: string;
  readonly program: Program;
}

/** What came of one run of a host. */
interface Outcome {
  readonly tools: number;
  /** What is shown of the tool's answer. */
  readonly result: string | undefined;
  /** What its user can read. */
  readonly output: string;
  /** What it wrote into files for who looks there. */
  readonly logs?: string;
}

function install(host: Host, folder: string): boolean {
  if (existsSync(join(folder, "node_modules/.bin", host.bin.at(-1) as string))) return true;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), "{}");
  const args = ["install", "--no-audit", "--no-fund", "--loglevel=error", ...host.packages];
  return spawnSync("npm", args, { cwd: folder, stdio: ["ignore", "ignore", 2] }).status === 0;
}

/** Runs a command to its end, or for as long as it may take. */
async function output(command: readonly string[], env: Record<string, string>, cwd: string): Promise<string> {
  const [program = "", ...args] = command;
  const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (said += chunk));
  const timer = setTimeout(() => process.kill(-(child.pid as number), "SIGKILL"), LIMIT_MS);
  await new Promise((resolve) => child.on("close", resolve));
  clearTimeout(timer);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
  return said.replace(/\u001b\[[0-9;?]*[a-zA-Z]/g, "");
}

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
    return { tools: tools.length, result, output: said };
  } catch (error) {
    return { tools: 0, result: undefined, output: `${said}\n${(error as Error).message}` };
  } finally {
    await client.close();
  }
}

/** A host that asks a model: what it shows the model; where it shows nothing, what its user is told of its servers. */
async function asked(host: Host, model: Model, runs: (args: readonly string[]) => Promise<string>, run: Run) {
  let said = await runs(host.prepare(run).args);
  const { tools, result } = model.seen;
  if (host.status !== undefined && result === undefined) said += await runs(host.status);
  return { tools: tools.filter((name) => name.includes("sallyport")).length, result, output: said };
}

/** A client that prints what a server answers. */
async function printed(host: Host, runs: (args: readonly string[]) => Promise<string>, run: Run): Promise<Outcome> {
  const said = await runs(host.prepare(run).args);
  const listed = await runs(host.prepare({ ...run, call: undefined }).args);
  const [, text] = /"text": ("(?:[^"\\]|\\.)*")/.exec(said) ?? [];
  const result = text === undefined ? undefined : (JSON.parse(text) as string);
  return { tools: listed.match(/"inputSchema"/g)?.length ?? 0, result, output: said };
}

/** Everything that was written into files of this ending. */
function logsIn(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".log"))
    .map((file) => readFileSync(join(folder, file), "utf8"))
    .join("\n");
}

/** @param isWritten the key is in the configuration, and in no variable. */
async function runHost(host: Host, { folder, program }: Bench, key: string, wish: Wish, isWritten: boolean) {
  const home = mkdtempSync(join(tmpdir(), `sallyport-${host.name}-`));
  const model = await startModel(wish);
  const how: Key = isWritten ? { literal: key } : { variable: KEY_VARIABLE };
  const run: Run = { home, entry: entryOf(program.baseUrl, "cti"), key: how, model: model.url, call: wish };
  const bin = host.bin.map((name) => join(folder, "node_modules/.bin", name));
  const { args, env } = host.prepare(run);
  const own = { PATH: process.env.PATH ?? "", HOME: home, ...(!isWritten && { [KEY_VARIABLE]: key }), ...env };
  // What prints is started from a shell, which expands the variable.
  const expanded = (arg: string): string => (host.kind === "output" ? arg.replace(REFERENCE, key) : arg);
  const runs = (more: readonly string[]): Promise<string> => output([...bin, ...more.map(expanded)], own, home);
  try {
    if (host.kind === "bridge") return await bridged([...bin, ...args], own, wish);
    if (host.kind === "output") return await printed(host, runs, run);
    return { ...(await asked(host, model, runs, run)), logs: logsIn(home) };
  } finally {
    model.close();
    rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/** What a user reads of a refusal: our sentence, or the line that comes nearest. */
function readOf({ output: said, result, logs = "" }: Outcome, sentence: RegExp): string {
  const flat = `${said}\n${result ?? ""}`.replace(/\s+/g, " ");
  if (sentence.test(flat)) return "our sentence";
  if (flat.includes(NO_SIGN_IN)) return "to send an API key, or another";
  if (sentence.test(logs.replace(/\s+/g, " "))) return "nothing; our sentence is in its log";
  const line = said.split("\n").find((one) => /\b401\b|reject|denied|fail|error|disconnect/i.test(one));
  return line === undefined
    ? "nothing"
    : `"${line
        .trim()
        .replace(/http:\/\/\S+/, "URL")
        .slice(0, 120)}"`;
}

const answered = ({ result, output: said }: Outcome): string =>
  result?.includes("analyst@sallyport.example") ? "answered" : `not answered: ${said.trim().slice(-160)}`;
const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");

async function rowOf(host: Host, bench: Bench, revoked: string): Promise<string> {
  if (!install(host, bench.folder)) {
    return `| ${host.name} | skipped: npm did not install ${host.packages.join(" ")} | | | | | |`;
  }
  const good = bench.program.bootstrap.analyst.api_key;
  const run = (key: string, wish: Wish, isWritten = false) => runHost(host, bench, key, wish, isWritten);
  const call = await run(good, WHOAMI);
  const written = await run(good, WHOAMI, true);
  const rows = await run(good, ROWS);
  const missing = await run(good, MISSING);
  const wrong = await run("nothing", WHOAMI);
  const ended = await run(revoked, WHOAMI);
  if (process.env.SHOW !== undefined)
    process.stderr.write(`${JSON.stringify({ call, missing, wrong, ended }, null, 1)}\n`);
  return `| ${[
    `${host.name} ${(host.packages.at(-1) as string).replace(/.*@/, "")}`,
    `${call.tools} tools`,
    `${answered(call)}; without a variable ${answered(written)}`,
    readOf(wrong, /neither an API key nor an access token/),
    readOf(ended, /was revoked: create a new API key/),
    rows.result === undefined
      ? "not answered"
      : `${rows.result.length} characters, ${rows.result.match(/[^_]id\W+[0-9a-f]{8}-/g)?.length ?? 0} rows`,
    missing.result?.includes("exists or is visible to you")
      ? "our sentence"
      : `"${(missing.result ?? "nothing").slice(0, 120)}"`,
  ]
    .map(cell)
    .join(" | ")} |`;
}

const [given, ...named] = process.argv.slice(2);
const folder = given ?? mkdtempSync(join(tmpdir(), "sallyport-hosts-"));
const program = await startProgram({ env: { BAD_TOKENS_PER_MINUTE: "1000" } });
try {
  const cli = (...args: string[]): string =>
    spawnSync(process.execPath, ["dist/clients/cli/main.js", ...args, "--json"], {
      env: { ...process.env, DATA_DIR: program.dataDir },
      encoding: "utf8",
    }).stdout;
  const key = JSON.parse(cli("keys", "create", "--user", program.bootstrap.analyst.email, "--name", "ended"));
  cli("keys", "revoke", key.id);
  process.stdout.write("| Client | List | Call | Wrong key | Revoked key | 100 rows (20,859 bytes) | isError |\n");
  process.stdout.write("| --- | --- | --- | --- | --- | --- | --- |\n");
  for (const host of HOSTS) {
    if (named.length > 0 && !named.includes(host.name)) continue;
    process.stdout.write(`${await rowOf(host, { folder: join(folder, host.name), program }, key.api_key)}\n`);
  }
} finally {
  await program.stop();
  if (given === undefined) rmSync(folder, { recursive: true, force: true });
}
