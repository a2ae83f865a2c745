import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { JsonSchema } from "../../../services/shared/tools/schema.js";
import type { Caller, Shown } from "./caller.js";

// Each argument of each tool at its edges.

const LONG = "long ".repeat(20_000);
const TEXTS: readonly JsonValue[] = [
  "",
  " ",
  "*",
  "%",
  "_",
  "e*",
  "\u0000",
  "a\u0007b",
  "\ud83d\ude00",
  "'\"\\;--",
  "<b>x</b>",
  "null",
  "undefined",
  "../../etc/passwd",
  "{}",
  "[",
  "(",
  "\\",
  "AND OR NOT",
  "\u202eabc",
  "x".repeat(300),
  LONG,
  5,
  true,
  null,
  ["a"],
  {},
];
const IDS: readonly JsonValue[] = [
  "",
  " ",
  "x",
  "0F0F0F0F-0F0F-4F0F-8F0F-0F0F0F0F0F0F",
  "00000000-0000-0000-0000-000000000000",
  "null",
  "../x",
  "a b",
  "\u0000",
  7,
  null,
];
const TIMES: readonly JsonValue[] = [
  "",
  "0001-01-01T00:00:00Z",
  "9999-12-31T23:59:59Z",
  "9999-12-31T23:59:59.999999999Z",
  "2026-02-30T00:00:00Z",
  "2026-01-01",
  "2026-01-01T00:00:00+14:00",
  "2026-01-01T24:00:00Z",
  "yesterday",
  "1970-01-01T00:00:00Z",
  0,
  null,
];
const NUMBERS: readonly JsonValue[] = [-1, 0, 1, 1.5, 2147483647, 2147483648, 1e21, "5", "x", null, true];
const FLAGS: readonly JsonValue[] = [true, false, "true", "yes", 1, null];

/** Values at the edges of what a schema takes. */
export function edgesOf(name: string, schema: JsonSchema): readonly JsonValue[] {
  const { type, format, enum: words, items } = schema;
  if (type === "array") {
    const inner = edgesOf(name, items as JsonSchema);
    const [word] = (items?.enum as JsonValue[] | undefined) ?? ["x"];
    return [[], null, "x", ...inner.slice(0, 12).map((one) => [one]), [word!, word!], new Array(1_001).fill(word)];
  }
  if (Array.isArray(words)) {
    const all = words as JsonValue[];
    return [...all, String(all[0]).toUpperCase(), `${all[0]} `, "", "nothing", 0, null];
  }
  if (type === "boolean") return FLAGS;
  if (type === "integer" || type === "number") return NUMBERS;
  if (format === "date-time") return TIMES;
  if (format === "uuid" || /(^|_)ids?$/.test(name)) return IDS;
  if (type === "object") return [{}, { "": 1 }, { a: { b: { c: [] } } }, "x", [], null];
  return TEXTS;
}

/** Words that no answer to a wrong argument has: a fault of ours, or of the platform, handed on. */
export const FAULTS =
  /internal error|cannot be read|service's log|did not say|not known whether|unavailable|unexpected|undefined\b|\[object|exception|traceback|\bSQL|graphql|stack|TypeError|HTTP \d{3}|status (?:code )?\d{3}|answered (?:with )?[45]\d\d|conflicts with|timed out|too long to answer/i;

/** One call that somebody must look at. */
export interface Finding {
  readonly tool: string;
  readonly args: JsonObject;
  readonly what: string;
}

/** Calls a tool once for each edge of each argument. */
export async function tryEdges(
  caller: Caller,
  shown: Shown,
  only?: RegExp,
): Promise<{ calls: number; findings: Finding[] }> {
  const findings: Finding[] = [];
  let calls = 0;
  const base = await caller.make(caller.asTool(shown));
  for (const [name, schema] of Object.entries(shown.inputSchema.properties ?? {})) {
    if (only !== undefined && !only.test(name)) continue;
    for (const value of edgesOf(name, schema)) {
      const args = { ...base, [name]: value };
      const before = performance.now();
      const { result, refusal, text } = await caller.person.ask(shown.name, args);
      const ms = performance.now() - before;
      calls++;
      const add = (what: string): void =>
        void findings.push({ tool: shown.name, args: short({ [name]: value }), what });
      if (result === undefined && FAULTS.test(refusal.replaceAll(String(value), ""))) add(refusal.slice(0, 300));
      if (result === undefined && refusal.length > 2_500) add(`${refusal.length} characters of refusal`);
      if (result !== undefined && text.length > 250_000) add(`${text.length} bytes`);
      if (ms > 5_000) add(`${Math.round(ms)} ms`);
    }
  }
  return { calls, findings };
}

function short(args: JsonObject): JsonObject {
  const text = JSON.stringify(args);
  return text.length <= 200 ? args : { cut: text.slice(0, 120) };
}
