import { Command, InvalidArgumentError, Option } from "commander";
import { LANGUAGES, type Language } from "./peers/peers.js";

/** The suites, in the order in which they run. */
export const SUITES = ["micro", "facade", "audit", "grpc", "stack", "latency"] as const;
/** One of them. */
export type Suite = (typeof SUITES)[number];

/** What a run of the benchmark measures, and how long. */
export interface Options {
  readonly suites: readonly Suite[];
  readonly rounds: number;
  readonly ms: number;
  readonly connections: readonly number[];
  readonly pause: number;
  readonly seconds: number;
  readonly peers: readonly Language[];
  readonly only: string;
  readonly json?: string;
  readonly html?: string;
}

/** Reads a command line; each setting may also be in the environment. Ends the process if one is wrong, or after help. */
export function readOptions(argv: readonly string[]): Options {
  const command = new Command("bench")
    .usage("[options]")
    .description("Measures the CPU time per request of the service, and its ratio to a floor and to other servers.")
    .addOption(list("--suites <LIST>", "The suites to run.", SUITES, SUITES).env("BENCH_SUITES"))
    .addOption(
      number("--rounds <NUMBER>", "Rounds of each group; each variant has one turn in each.", 5).env("BENCH_ROUNDS"),
    )
    .addOption(number("--ms <NUMBER>", "Milliseconds of one turn.", 1_000).env("BENCH_MS"))
    .addOption(
      new Option("--connections <LIST>", "Connections that send at the same time.")
        .argParser((text) => text.split(",").map((one) => wholeOf(one, 1)))
        .default([1, 32], "1,32")
        .env("BENCH_CONNECTIONS"),
    )
    .addOption(
      number(
        "--pause <NUMBER>",
        "Microseconds from an answer to the next request of its connection, in facade, audit and stack.",
        0,
        0,
      ).env("BENCH_PAUSE"),
    )
    .addOption(number("--seconds <NUMBER>", "Seconds of a run at a constant rate.", 10).env("BENCH_SECONDS"))
    .addOption(
      list("--peers <LIST>", "Other servers to compare, or none.", [...LANGUAGES, "none"], LANGUAGES).env(
        "BENCH_PEERS",
      ),
    )
    .addOption(
      new Option("--only <TEXT>", "Only groups, and parts of micro, whose names contain this text.")
        .default("")
        .env("BENCH_ONLY"),
    )
    .option("--json <FILE>", "Write the result as JSON to this file.")
    .option("--html <FILE>", "Write the result as a page with plots to this file.")
    .parse(argv, { from: "user" });
  const options = command.opts<Omit<Options, "peers"> & { readonly peers: readonly (Language | "none")[] }>();
  return { ...options, peers: options.peers.filter((peer) => peer !== "none") };
}

function list(flags: string, doc: string, words: readonly string[], fallback: readonly string[]): Option {
  const read = (text: string): string[] =>
    text.split(",").map((word) => {
      if (words.includes(word)) return word;
      throw new InvalidArgumentError(`must be some of ${words.join(", ")}, separated by commas.`);
    });
  return new Option(flags, doc).argParser(read).default(fallback, fallback.join(","));
}

function number(flags: string, doc: string, fallback: number, least = 1): Option {
  return new Option(flags, doc).argParser((text: string) => wholeOf(text, least)).default(fallback);
}

function wholeOf(text: string, least: number): number {
  const value = Number(text);
  if (text.trim() !== "" && Number.isInteger(value) && value >= least) return value;
  throw new InvalidArgumentError(`must be a whole number of at least ${least}.`);
}
