import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { JsonSchema } from "../../../services/shared/tools/schema.js";
import { type IdArgument, idArgumentsOf, idIn } from "./arguments.js";
import type { Ground, Ids } from "./ground.js";
import { argumentsOf, requiredOf, type Shown } from "./shown.js";

/** A use of a tool that is refused to everybody. */
export interface WrongUse {
  /** The argument, and what is wrong with it. */
  readonly what: string;
  readonly args: JsonObject;
  /** The id that is in the call, where that is what is wrong. */
  readonly id?: string;
}

/** Of what no person has: its answer is that of what there is and nobody may know of. */
export const NO_SUCH = "an id that nothing has";
const UNKNOWN = "0f0f0f0f-0f0f-4f0f-8f0f-0f0f0f0f0f0f";

/** An id that nothing has, for every list. */
export const UNKNOWN_IDS: Ids = {
  get: (list: string) => (list === "inspect_agent_traces" ? UNKNOWN.replaceAll("-", "") : UNKNOWN),
} as Ids;

/** Ids that are taken, though nothing has them, and why. */
const TAKEN: Readonly<Record<string, string>> = {
  "list_runs.agent_id": "what ran is kept after its agent was deleted, so any id is looked for",
  "list_runs.assignment_id": "what ran is kept after its assignment was deleted, so any id is looked for",
};

/** The wrong uses of a tool, made of right arguments. */
export function wrongUses(tool: Shown, right: JsonObject, ground: Ground): WrongUse[] {
  const all: WrongUse[] = [{ what: "an argument that does not exist", args: { ...right, surprise: 1 } }];
  const ids = new Map(idArgumentsOf(tool).map((one) => [one.name, one]));
  for (const name of requiredOf(tool)) {
    const { [name]: _, ...rest } = right;
    all.push({ what: `${name}: missing`, args: rest });
  }
  for (const [name, schema] of argumentsOf(tool)) {
    const add = (what: string, value: JsonValue): void =>
      void all.push({ what: `${name}: ${what}`, args: { ...right, [name]: value } });
    for (const value of mistyped(schema)) add(`wrong type (${JSON.stringify(value)})`, value);
    for (const [what, value] of outOfRange(schema)) add(what, value);
    if (name === "etag") add("another's", "another-etag");
    const id = ids.get(name);
    if (id !== undefined && TAKEN[`${tool.name}.${name}`] === undefined) all.push(...wrongIds(id, right, ground));
  }
  return all;
}

function wrongIds(id: IdArgument, right: JsonObject, ground: Ground): WrongUse[] {
  const all: [string, Ids][] = [
    [NO_SUCH, UNKNOWN_IDS],
    ["another's id", ground.others],
    ["an id of another kind", new Map(id.lists.map((list) => [list, ground.shared.get(otherThan(id.lists))!]))],
    // A run has no deletion.
    ...(id.lists.some((list) => DELETED.has(list)) ? [] : [["a deleted id", ground.deleted] as [string, Ids]]),
  ];
  return all.map(([what, ids]) => {
    const value = idIn(id, ids);
    return { what: `${id.name}: ${what}`, args: { ...right, [id.name]: value }, id: [value].flat()[0] as string };
  });
}

const DELETED = new Set(["list_runs", "inspect_agent_traces"]);

function otherThan(lists: readonly string[]): string {
  // Prompts can be attached to agents.
  if (lists.includes("list_variables")) return "list_assignments";
  return lists.includes("list_prompts") ? "list_agents" : "list_prompts";
}

/** Values that no reading of the type takes. */
function mistyped({ type, enum: words, format, items }: JsonSchema): JsonValue[] {
  if (Array.isArray(words)) return ["no_such_word", { a: 1 }];
  if (format === "date-time") return ["yesterday", { a: 1 }];
  if (type === "integer") return ["seven", 1.5, { a: 1 }];
  if (type === "number") return ["seven", { a: 1 }];
  if (type === "boolean") return ["perhaps", { a: 1 }];
  if (type === "object") return ["words", 7];
  if (type === "array") return [{ a: 1 }, ...(items?.type === "object" ? [["words"], [7]] : [[{ a: 1 }], [["x"]]])];
  return [{ a: 1 }, ["x", "y"]];
}

function outOfRange(schema: JsonSchema): [string, JsonValue][] {
  const { type, minimum, maximum, minLength, maxLength, pattern, maxItems, minItems, items } = schema;
  const found: [string, JsonValue][] = [];
  if (typeof minimum === "number") found.push([`below ${minimum}`, minimum - 1]);
  if (typeof maximum === "number") found.push([`above ${maximum}`, maximum + 1]);
  if (typeof minLength === "number" && minLength > 0) found.push([`shorter than ${minLength}`, ""]);
  if (typeof maxLength === "number" && maxLength < 1_000_000)
    found.push([`longer than ${maxLength}`, "x".repeat(maxLength + 1)]);
  if (typeof pattern === "string" && type === "string") found.push(["another pattern", "§ NO §"]);
  if (typeof maxItems === "number" && items?.type === "string")
    found.push([`more than ${maxItems}`, Array.from({ length: maxItems + 1 }, (_, i) => `x${i}`)]);
  if (typeof minItems === "number" && minItems > 0) found.push([`fewer than ${minItems}`, []]);
  return found;
}
