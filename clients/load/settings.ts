import { parsedUrl } from "../../services/shared/parsed-url.js";
import { ERAS, KINDS } from "./mcp/message.js";
import { readStages, SHAPES } from "./shapes.js";
import { readThreshold } from "./thresholds.js";
import type { Weighted } from "./turns.js";

/** One setting of a scenario: a flag, and a member of a scenario file. */
interface Setting<T> {
  readonly doc: string;
  /** What the help shows for its value; a switch has none. */
  readonly value?: string;
  /** May be given several times. */
  readonly isMany?: boolean;
  /** Reads the text given. @throws Error that says what it must be. */
  readonly parse: (text: string) => T;
  readonly fallback?: T;
}

const setting = <T>(one: Setting<T>): Setting<T> => one;

/** The settings by their flags. Every one but `key` may be in a scenario file. */
export const SETTINGS = {
  url: setting({ doc: "The URL of the MCP server (required).", value: "URL", parse: mcpUrl }),
  shape: setting({
    doc: "The shape of the load: soak keeps the rate, ramp raises it from --from to --rate, spike goes to --peak for the middle fifth of the time.",
    value: SHAPES.join("|"),
    parse: oneOf(SHAPES),
    fallback: "soak" as const,
  }),
  rate: setting({ doc: "Requests per second.", value: "NUMBER", parse: above0, fallback: 100 }),
  seconds: setting({
    doc: "The length of the run, without the warm-up.",
    value: "SECONDS",
    parse: above0,
    fallback: 30,
  }),
  from: setting({ doc: "Requests per second at the beginning of a ramp.", value: "NUMBER", parse: from0, fallback: 0 }),
  peak: setting({
    doc: "Requests per second of a spike; five times --rate if omitted.",
    value: "NUMBER",
    parse: above0,
  }),
  stages: setting({
    doc: "Any other shape, in place of the settings above: seconds:rate or seconds:from-to, separated by commas, such as 30:100-1000,60:1000.",
    value: "STAGES",
    parse: readStages,
  }),
  warmup: setting({
    doc: "Seconds at the first rate before the run; they are not counted.",
    value: "SECONDS",
    parse: from0,
    fallback: 2,
  }),
  mix: setting({
    doc: "The kinds of requests and their weights: list is tools/list, call is tools/call, progress is tools/call with a progress token.",
    value: "KIND=WEIGHT,…",
    parse: weightsOf(KINDS),
    fallback: [["list", 1] as const, ["call", 9] as const],
  }),
  eras: setting({
    doc: "The revisions of the protocol and their weights.",
    value: "REVISION=WEIGHT,…",
    parse: weightsOf(ERAS),
    fallback: [["2026-07-28", 1] as const, ["2025-11-25", 1] as const],
  }),
  tool: setting({ doc: "The tool that calls use.", value: "NAME", parse: text, fallback: "whoami" }),
  arguments: setting({ doc: "The arguments of that tool.", value: "JSON", parse: jsonObject, fallback: {} }),
  "progress-tool": setting({
    doc: "The tool of calls that ask for progress; --tool if omitted.",
    value: "NAME",
    parse: text,
  }),
  "progress-arguments": setting({
    doc: "The arguments of that tool; none if omitted.",
    value: "JSON",
    parse: jsonObject,
  }),
  connections: setting({ doc: "Connections that are kept open.", value: "NUMBER", parse: whole, fallback: 16 }),
  key: setting({
    doc: "A bearer token; LOAD_KEY if omitted. Other users of this machine can see flags: prefer LOAD_KEY or --keys.",
    value: "KEY",
    parse: text,
  }),
  keys: setting({
    doc: "A file with a bearer token on each line. Connections use them in order.",
    value: "FILE",
    parse: text,
  }),
  header: setting({
    doc: 'A header of every request, such as "X-Tenant: a"; may be repeated.',
    value: "HEADER",
    isMany: true,
    parse: header,
  }),
  timeout: setting({
    doc: "Seconds after which a request counts as failed, from the time at which it is due.",
    value: "SECONDS",
    parse: above0,
    fallback: 10,
  }),
  precise: setting({
    doc: "Send without the delay of timers, up to 1 ms. This uses a whole core.",
    parse: (given) => given === "true",
    fallback: false,
  }),
  threshold: setting({
    doc: "A condition on the figures, such as p99<50ms, errors<0.1%, rate>=900 or call.p95<20ms; may be repeated. The exit code is 1 if one does not hold.",
    value: "CONDITION",
    isMany: true,
    parse: readThreshold,
  }),
  json: setting({ doc: "Write the report as JSON to this file.", value: "FILE", parse: text }),
  html: setting({ doc: "Write the report as a page with plots to this file.", value: "FILE", parse: text }),
};

/** The flag of a setting. */
export type SettingName = keyof typeof SETTINGS;
type Parsed<S> = S extends Setting<infer T> ? T : never;
/** What a scenario was given, read, with the fallbacks. Settings that may be repeated are lists. */
export type Given = {
  readonly [K in SettingName]:
    | (K extends "header" | "threshold" ? readonly Parsed<(typeof SETTINGS)[K]>[] : Parsed<(typeof SETTINGS)[K]>)
    | undefined;
};

function text(given: string): string {
  if (given === "") throw new Error("must not be empty");
  return given;
}

function number(given: string): number {
  return given.trim() === "" ? Number.NaN : Number(given);
}

function above0(given: string): number {
  const value = number(given);
  if (!Number.isFinite(value) || value <= 0) throw new Error(`must be a number above 0, not "${given}"`);
  return value;
}

function from0(given: string): number {
  const value = number(given);
  if (!Number.isFinite(value) || value < 0) throw new Error(`must be 0 or a number above 0, not "${given}"`);
  return value;
}

function whole(given: string): number {
  const value = number(given);
  if (!Number.isInteger(value) || value < 1) throw new Error(`must be a whole number of at least 1, not "${given}"`);
  return value;
}

function mcpUrl(given: string): URL {
  const url = parsedUrl(given);
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new Error("must be a URL that begins with http:// or https://, such as http://127.0.0.1:8080/mcp/cti");
  }
  if (url.username !== "" || url.password !== "") {
    throw new Error('must not have a user name or password; give them as --header "Authorization: Basic …"');
  }
  return url;
}

function oneOf<T extends string>(words: readonly T[]): (given: string) => T {
  return (given) => {
    const word = words.find((one) => one === given);
    if (word === undefined) throw new Error(`must be one of ${words.join(", ")}, not "${given}"`);
    return word;
  };
}

function weightsOf<T extends string>(words: readonly T[]): (given: string) => readonly Weighted<T>[] {
  return (given) => {
    const weights = given.split(",").map((one): Weighted<T> => {
      const [name = "", weight = "1"] = one.trim().split("=");
      return [oneOf(words)(name), from0(weight)];
    });
    if (!weights.some(([, weight]) => weight > 0)) throw new Error("must have a weight above 0");
    return weights.filter(([, weight]) => weight > 0);
  };
}

function jsonObject(given: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(given);
  } catch {
    value = undefined;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Error(`must be a JSON object such as {"id":"1"}`);
  }
  return value as Readonly<Record<string, unknown>>;
}

const HEADER = /^([!#$%&'*+.^_`|~\w-]+):\s*([\t\x20-\x7e]*)$/;

/** Headers that say where a request ends. */
const FRAMING = new Set(["content-length", "transfer-encoding"]);

function header(given: string): readonly [name: string, value: string] {
  const [, name, value] = HEADER.exec(given) ?? [];
  // The value may be a secret: it is not repeated.
  if (name === undefined || value === undefined) throw new Error('must be a header such as "X-Tenant: a"');
  if (FRAMING.has(name.toLowerCase())) throw new Error(`must not be ${name}: the generator sends its own`);
  return [name.toLowerCase(), value.trim()];
}
