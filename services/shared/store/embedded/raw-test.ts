import type { Document } from "mongodb";
import { isOperators } from "./constraints.js";

/** Whether the bytes of a stored document, as Latin-1, may hold a match: false only if they cannot. */
export type RawTest = (raw: string) => boolean;

/** Those made before, by what they look for: two fields that may hold one text are one look. */
type Made = Map<string, RawTest>;

/** Values of an $in that are looked for one by one; with more of them it costs less to decode the document. */
const MAX_VALUES = 8;

/**
 * What the bytes of a document must hold for a filter to match, so that most of
 * those that do not match are never decoded: msgpack keeps every text as its
 * UTF-8. undefined where the filter demands nothing of the kind.
 */
export function rawTestOf(filter: Document, made: Made = new Map()): RawTest | undefined {
  return allOf(Object.entries(filter).map(([path, condition]) => testOf(path, condition, made)));
}

function testOf(path: string, condition: unknown, made: Made): RawTest | undefined {
  if (path === "$and" && Array.isArray(condition)) return allOf(condition.map((one) => rawTestOf(one, made)));
  if (path === "$or" && Array.isArray(condition)) return anyOf(condition.map((one) => rawTestOf(one, made)));
  if (path.startsWith("$")) return undefined;
  if (!isOperators(condition)) return holding(condition, made);
  const { $eq, $in, $all, $regex, $options } = condition;
  return allOf([
    holding($eq, made),
    Array.isArray($in) && $in.length <= MAX_VALUES ? anyOf($in.map((value) => holding(value, made))) : undefined,
    Array.isArray($all) ? allOf($all.map((value) => holding(value, made))) : undefined,
    typeof $regex === "string" ? like($regex, $options, made) : undefined,
  ]);
}

/** A condition that tells nothing is left to the matcher. */
function allOf(tests: readonly (RawTest | undefined)[]): RawTest | undefined {
  const told = tests.filter((test) => test !== undefined);
  return told.length <= 1 ? told[0] : (raw) => told.every((test) => test(raw));
}

/** Where one of the alternatives tells nothing, nothing is told. */
function anyOf(tests: readonly (RawTest | undefined)[]): RawTest | undefined {
  if (tests.includes(undefined)) return undefined;
  const told = [...new Set(tests)].filter((test) => test !== undefined);
  return told.length <= 1 ? told[0] : (raw) => told.some((test) => test(raw));
}

function holding(value: unknown, made: Made): RawTest | undefined {
  if (typeof value !== "string" || value === "" || !isWellFormed(value)) return undefined;
  const wanted = Buffer.from(value).toString("latin1");
  return once(`= ${value}`, made, () => (raw) => raw.includes(wanted));
}

/** A pattern that is one text and nothing else: punctuation escaped, no operator. */
const LITERAL = /^(?:\\[^\w\s]|[^\\^$.*+?()[\]{}|])+$/;
/** Bytes as Latin-1 hold these as they are, and no other byte is one of them in another case. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
const ASCII = /^[\x00-\x7f]*$/;

function like(pattern: string, options: unknown, made: Made): RawTest | undefined {
  if (!LITERAL.test(pattern) || !isWellFormed(pattern) || (options !== undefined && options !== "" && options !== "i"))
    return undefined;
  return once(`~ ${options} ${pattern}`, made, () => {
    const wanted = new RegExp(pattern, options as string | undefined);
    if (ASCII.test(pattern)) return (raw) => wanted.test(raw);
    return (raw) => wanted.test(Buffer.from(raw, "latin1").toString());
  });
}

/** Half of a surrogate pair has no UTF-8 of its own. */
function isWellFormed(text: string): boolean {
  return Buffer.from(text).toString() === text;
}

function once(key: string, made: Made, make: () => RawTest): RawTest {
  const test = made.get(key) ?? make();
  made.set(key, test);
  return test;
}
