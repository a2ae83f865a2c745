import { readFileSync } from "node:fs";
import { Command, CommanderError, Option } from "commander";
import { UsageError } from "../cli/failures.js";
import type { Outputs, Scenario } from "./scenario.js";
import { type Given, SETTINGS, type SettingName } from "./settings.js";
import { stagesOf } from "./shapes.js";

const NAMES = Object.keys(SETTINGS) as SettingName[];
const EXITS = `
A scenario file is one JSON object whose members are the flags without their dashes. A flag overrides the file.

Exit codes:
  0  done, and every threshold holds
  1  a threshold does not hold, or the run was interrupted
  2  a setting is wrong
  6  the server did not answer as an MCP server before the run`;

/** The texts that were given for the settings. */
type Texts = Partial<Record<SettingName, readonly string[]>>;

/**
 * Reads a command line, and the scenario file that it names.
 *
 * @returns undefined if only help was asked for; it is written to standard output.
 * @throws UsageError that lists everything that is wrong.
 */
export function readCommandLine(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): { readonly scenario: Scenario; readonly outputs: Outputs } | undefined {
  const flags = flagsOf(argv);
  if (flags === undefined) return undefined;
  const texts = { ...(flags.file !== undefined && textsOfFile(flags.file)), ...flags.texts };
  const problems: string[] = [];
  const given = read(texts, problems);
  if (given.url === undefined && texts.url === undefined) problems.push(`--url is missing: ${SETTINGS.url.doc}`);
  const keys = keysOf(given, env, problems);
  if (problems.length > 0) throw new UsageError(problems.join("\n"));
  return { scenario: scenarioOf(given, keys), outputs: { json: given.json, html: given.html } };
}

function flagsOf(argv: readonly string[]): { readonly texts: Texts; readonly file: string | undefined } | undefined {
  const command = new Command("load")
    .name("npm run -s load --")
    .usage("--url URL [options]")
    .description("Sends MCP requests at scheduled times and measures how long the answers take.")
    .helpOption("-h, --help", "Show this help.")
    .addHelpText("after", EXITS)
    .allowExcessArguments()
    .exitOverride()
    .configureOutput({ writeErr: () => undefined, outputError: () => undefined })
    .addOption(new Option("--scenario <FILE>", "A JSON file with settings."));
  for (const name of NAMES) {
    const { doc, value, isMany, fallback } = SETTINGS[name];
    const option = new Option(value === undefined ? `--${name}` : `--${name} <${value}>`, `${doc}${shown(fallback)}`);
    if (isMany) option.argParser((text: string, before: readonly string[] = []) => [...before, text]);
    command.addOption(option);
  }
  try {
    command.parse(argv, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return undefined;
    throw new UsageError(error.message.replace(/^error: /, ""));
  }
  if (command.args.length > 0)
    throw new UsageError(`unknown argument: ${command.args[0]}. Settings are flags such as --url.`);
  const values = command.opts<Record<string, string | boolean | readonly string[] | undefined>>();
  const texts: Texts = {};
  for (const name of NAMES) {
    const value = values[name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())];
    if (value !== undefined) texts[name] = [value].flat().map(String);
  }
  return { texts, file: values.scenario as string | undefined };
}

function shown(fallback: unknown): string {
  if (typeof fallback === "number" || typeof fallback === "string") return ` [${fallback}]`;
  return Array.isArray(fallback) ? ` [${fallback.map((one) => one.join("=")).join(",")}]` : "";
}

/** The settings of a scenario file, as texts. */
function textsOfFile(file: string): Texts {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new UsageError(`--scenario: ${file} cannot be read as JSON: ${(error as Error).message}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UsageError(`--scenario: ${file} must be one JSON object whose members are settings.`);
  }
  const texts: Texts = {};
  for (const [name, given] of Object.entries(value)) {
    const own = NAMES.find((one) => one === name);
    if (own === undefined || own === "key") {
      const known = NAMES.filter((one) => one !== "key").join(", ");
      throw new UsageError(`--scenario: ${file} has the unknown member "${name}". The members are ${known}.`);
    }
    if (SETTINGS[own].isMany) texts[own] = [given].flat().map(String);
    else texts[own] = [typeof given === "object" ? JSON.stringify(given) : String(given)];
  }
  return texts;
}

function read(texts: Texts, problems: string[]): Given {
  const given: Record<string, unknown> = {};
  for (const name of NAMES) {
    const { parse, fallback, isMany } = SETTINGS[name];
    try {
      const parsed = texts[name]?.map((text) => parse(text));
      given[name] = isMany ? (parsed ?? []) : (parsed?.at(-1) ?? fallback);
    } catch (error) {
      problems.push(`--${name} ${(error as Error).message}`);
    }
  }
  return given as Given;
}

/** The bearer tokens: of the file, else of the flag, else of LOAD_KEY. */
function keysOf(
  given: Given,
  env: Readonly<Record<string, string | undefined>>,
  problems: string[],
): readonly string[] {
  const keys = given.keys === undefined ? [given.key ?? env.LOAD_KEY ?? ""] : linesOf(given.keys, problems);
  const sent = keys.map((key) => key.trim()).filter((key) => key !== "");
  // A header cannot hold other characters. The key itself is not repeated.
  if (sent.some((key) => !/^[\x21-\x7e]+$/.test(key)))
    problems.push("a key has characters that no bearer token can have");
  if (given.keys !== undefined && sent.length === 0 && problems.length === 0) {
    problems.push(`--keys: ${given.keys} has no key. Write one key on each line.`);
  }
  return sent;
}

function linesOf(file: string, problems: string[]): string[] {
  try {
    return readFileSync(file, "utf8").split("\n");
  } catch (error) {
    problems.push(`--keys: ${file} cannot be read: ${(error as Error).message}`);
    return [];
  }
}

function scenarioOf(given: Given, keys: readonly string[]): Scenario {
  // Fallbacks are in the table; `read` has put them in.
  const { rate, seconds, from, shape } = given as Required<Record<"rate" | "seconds" | "from", number>> & Given;
  const peak = given.peak ?? rate * 5;
  const call = { tool: given.tool ?? "", arguments: given.arguments ?? {} };
  const progressTool = given["progress-tool"];
  const own = { tool: progressTool ?? call.tool, arguments: given["progress-arguments"] ?? {} };
  return {
    url: given.url as URL,
    shape: given.stages === undefined ? (shape ?? "soak") : "stages",
    stages: given.stages ?? stagesOf(shape ?? "soak", { rate, seconds, from, peak }),
    warmupSeconds: given.warmup ?? 0,
    mix: given.mix ?? [],
    eras: given.eras ?? [],
    calls: { call, progress: progressTool === undefined && given["progress-arguments"] === undefined ? call : own },
    connections: given.connections ?? 1,
    keys,
    headers: Object.fromEntries(given.header ?? []),
    timeoutMs: (given.timeout ?? 0) * 1_000,
    isPrecise: given.precise ?? false,
    thresholds: given.threshold ?? [],
  };
}
