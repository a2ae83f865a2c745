import { pino } from "pino";
import { gatheredLines } from "./gathered-lines.js";
import { LineWriter } from "./line-writer.js";

/** Structured logging as JSON lines; never arguments, results or credentials. */
export type Log = Pick<pino.Logger, "debug" | "info" | "warn" | "error" | "bindings" | "isLevelEnabled"> & {
  child(fields: object, options?: pino.ChildLoggerOptions): Log;
};

/** Longest text of one field, in characters. */
export const MAX_FIELD = 2_048;
/** Longest line, in characters: what log drivers take in one piece. */
export const MAX_LINE = 16 << 10;
/** The most items of a list, and the most members of an object. */
const MAX_ITEMS = 64;
/** Objects inside objects. */
const MAX_DEPTH = 4;
const STANDARD_ERROR = 2;

/**
 * Creates the process's log, on standard error so that standard output stays
 * for what a person or script reads. What a caller sends does not set the size
 * of a line: long fields are cut, and say so.
 *
 * @param destination where lines go, for tests; standard error where not given.
 */
export function createLog(
  level: string,
  destination: pino.DestinationStream = gatheredLines(new LineWriter(STANDARD_ERROR)),
): Log {
  const log = pino(
    {
      level,
      base: null,
      formatters: { log: (fields) => shortenedMembers(fields, MAX_DEPTH) },
      serializers: { err: (error) => shortened(pino.stdSerializers.err(error), MAX_DEPTH) },
      hooks: { streamWrite: shortenedLine },
      redact: {
        paths: [
          "authorization",
          "*.authorization",
          "token",
          "*.token",
          "assertion",
          "*.assertion",
          "password",
          "secret",
        ],
        censor: "[redacted]",
      },
    },
    destination,
  );
  return Object.assign(log, { [DESTINATION]: destination });
}

/** Where the lines of a log go; its children inherit it. */
const DESTINATION = Symbol("destination");

/**
 * Writes a line that was made elsewhere, as JSON. Its fields are neither redacted nor shortened; a line that is too long is.
 *
 * @param log one that {@link createLog} made, or a child of it.
 */
export function writeLine(log: Log, line: string): void {
  const { [DESTINATION]: destination } = log as Log & { readonly [DESTINATION]: pino.DestinationStream };
  destination.write(shortenedLine(`${line}\n`));
}

function shortened(value: unknown, depth: number): unknown {
  if (typeof value === "string") return shortenedText(value);
  // Errors and dates are written by their own rules.
  if (typeof value !== "object" || value === null || value instanceof Error || value instanceof Date) return value;
  if (depth === 0) return "[cut]";
  if (!Array.isArray(value)) return shortenedMembers(value, depth - 1);
  const items = value.slice(0, MAX_ITEMS).map((item) => shortened(item, depth - 1));
  return value.length > MAX_ITEMS ? [...items, `[cut: ${value.length} items]`] : items;
}

function shortenedMembers(object: object, depth: number): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  let count = 0;
  for (const name in object) {
    if (++count > MAX_ITEMS) return { ...members, cut: "members" };
    members[shortenedText(name)] = shortened((object as Record<string, unknown>)[name], depth);
  }
  return members;
}

function shortenedText(text: string): string {
  return text.length <= MAX_FIELD ? text : `${text.slice(0, MAX_FIELD)}… [cut: ${text.length} characters]`;
}

/** Of a line that is too long still, what is short enough to say whose it is. */
function shortenedLine(line: string): string {
  if (line.length <= MAX_LINE) return line;
  const short = Object.entries(JSON.parse(line) as object).filter(
    ([, value]) => typeof value !== "object" && String(value).length <= MAX_FIELD / 8,
  );
  return `${JSON.stringify({ ...Object.fromEntries(short.slice(0, MAX_ITEMS / 4)), cut: line.length })}\n`;
}

/** A log that says nothing. */
export const silentLog: Log = pino({ level: "silent" });
