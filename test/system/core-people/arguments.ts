import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { JsonSchema } from "../../../services/shared/tools/schema.js";
import type { Ids } from "./ground.js";
import { argumentsOf, requiredOf, type Shown } from "./shown.js";

// Values of arguments, made of what tools/list says of them.

/** Right values that no schema says. */
const KNOWN: Readonly<Record<string, JsonValue>> = {
  endpoint: "http://127.0.0.1:9/v1",
  url: "http://127.0.0.1:9/made",
  schedule: "0 7 * * 1-5",
  time_zone: "Europe/Paris",
  query: "mark",
  field: "input",
  path: "notes.md",
  tools: ["core/list_prompts"],
  add_tools: ["core/list_prompts"],
  ask_tools: ["core/list_prompts"],
  add_ask_tools: ["core/list_prompts"],
  headers: [{ name: "X-Made", value: "made" }],
  put_headers: [{ name: "X-Made", value: "made" }],
  started_after: "2026-01-01T00:00:00Z",
  input_schema: { type: "object", properties: {} },
};

/** Stands for an id that is there. */
const SHARED = "(an id)";

/** Arguments without which a call changes nothing, or which stand for one of several. */
const ALSO: Readonly<Record<string, JsonObject>> = {
  create_document: { content: "Made by the table." },
  update_document: { content: "Made again by the table." },
  update_run: { cancel: true },
  inspect_agent_traces: { target_agent_id: SHARED },
};

/** What takes ids, and the tools that list them. */
export interface IdArgument {
  readonly name: string;
  readonly isList: boolean;
  readonly lists: readonly string[];
}

/** The arguments of a tool that take ids of what is there. */
export function idArgumentsOf(tool: Shown): IdArgument[] {
  return argumentsOf(tool).flatMap(([name, { description = "", type }]) => {
    if (name === "request_id" || name === "span_id") return [];
    const [found] = listsOf(description);
    return /_ids?$/.test(name) || (found !== undefined && /name or id/i.test(description))
      ? [{ name, isList: type === "array", lists: listsFor(tool, name, description) }]
      : [];
  });
}

function listsFor(tool: Shown, name: string, description: string): readonly string[] {
  if (/resource_ids$/.test(name)) return ["list_variables", "list_skills", "list_custom_tools"];
  if (name === "fallback_integration_id") return ["list_integrations"];
  if (name === "trace_id") return ["inspect_agent_traces"];
  const lists = listsOf(description).filter((one) => one.startsWith("list_"));
  if (lists.length === 0)
    throw new Error(`${tool.name}.${name} does not say which tool lists such ids: ${description}`);
  return lists;
}

function listsOf(description: string): string[] {
  return [...description.matchAll(/\b(list|inspect)_[a-z_]+/g)].map(([name]) => name);
}

/** Right arguments of a call: what is required, with these ids, and one more argument. */
export function rightArguments(tool: Shown, ids: Ids, stranger: string, more = ""): JsonObject {
  const taken = new Map(idArgumentsOf(tool).map((one) => [one.name, one]));
  const made: JsonObject = {};
  const wanted = [...requiredOf(tool), ...Object.keys(ALSO[tool.name] ?? {}), ...(more === "" ? [] : [more])];
  for (const [name, schema] of argumentsOf(tool)) {
    if (!wanted.includes(name)) continue;
    const id = taken.get(name);
    if (id !== undefined) made[name] = idIn(id, ids);
    else made[name] = ALSO[tool.name]?.[name] ?? madeOf(name, schema, stranger);
  }
  // A change of something, where nothing is required.
  const change = ["description", "instructions"].find((name) => argumentsOf(tool).some(([one]) => one === name));
  if (tool.name.startsWith("update_") && ALSO[tool.name] === undefined && change !== undefined)
    made[change] ??= "Changed by the table.";
  return made;
}

/** A value for an argument that takes ids. */
export function idIn({ name, isList, lists }: IdArgument, ids: Ids): JsonValue {
  const id = lists.map((list) => ids.get(list)).find((one) => one !== undefined);
  if (id === undefined) throw new Error(`nothing is made that ${lists.join()} lists, for ${name}`);
  return isList ? [id] : id;
}

let made = 0;

function madeOf(name: string, schema: JsonSchema, stranger: string): JsonValue {
  if (KNOWN[name] !== undefined) return KNOWN[name];
  const { type, enum: words, minimum, exclusiveMinimum, pattern, format, properties, required, items } = schema;
  if (name === "to") return `user:${stranger}`;
  if (name === "unshare") return [`user:${stranger}`];
  if (Array.isArray(words)) return words[0] as string;
  if (type === "boolean") return true;
  if (type === "integer" || type === "number")
    return typeof minimum === "number" ? Math.max(1, minimum) : exclusiveMinimum === undefined ? 1 : 0.5;
  if (type === "array") return [madeOf(name, items as JsonSchema, stranger)];
  if (type === "object") {
    const inner = Object.entries(properties ?? {}).filter(([one]) => required?.includes(one));
    return Object.fromEntries(inner.map(([one, of]) => [one, madeOf(one, of, stranger)]));
  }
  if (format === "date-time") return "2026-01-01T00:00:00Z";
  const fit = [`made${++made}`, `made_${made}`, `Made ${made}`, `MADE_${made}`].find(
    (one) => typeof pattern !== "string" || new RegExp(pattern, "u").test(one),
  );
  if (fit === undefined) throw new Error(`${name}: nothing made fits ${pattern}`);
  return fit;
}
