import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { JsonSchema } from "../../../services/shared/tools/schema.js";
import { edgesOf } from "../../truth/from-tools-list/edges.js";
import { idArgumentsOf } from "./arguments.js";
import type { Ids } from "./ground.js";
import { argumentsOf, type Shown } from "./shown.js";

// Uses of a tool that somebody makes by accident or to see what happens: each argument at the edges of its kind, members of
// objects and lists too, spellings of ids that exist, tokens of other pages, and pairs that contradict each other.

/** One use. */
export interface EdgeUse {
  /** The argument, and its value. */
  readonly what: string;
  /** The argument that is at its edge. */
  readonly name: string;
  readonly args: JsonObject;
}

/** Pairs that say two things at once: words before the same noun. */
const OPPOSITES = [
  ["add_", "remove_"],
  ["put_", "remove_"],
  ["share", "unshare"],
] as const;

/**
 * The uses of a tool, made of right arguments.
 *
 * @param tokens of pages of other lists.
 */
export function edgeUses(tool: Shown, right: JsonObject, ids: Ids, tokens: readonly string[]): EdgeUse[] {
  const uses: EdgeUse[] = [];
  const shown = Object.fromEntries(argumentsOf(tool));
  const taken = new Map(idArgumentsOf(tool).map((one) => [one.name, one]));
  for (const [name, schema] of argumentsOf(tool)) {
    const add = (value: JsonValue): void =>
      void uses.push({ what: `${name}=${short(value)}`, name, args: { ...right, [name]: value } });
    for (const value of edgesOf(name, schema)) add(value);
    for (const value of nested(schema, right[name])) add(value);
    const id = taken.get(name);
    const real = id?.lists.map((list) => ids.get(list)).find((one) => one !== undefined);
    if (real !== undefined)
      for (const spelled of [real.toUpperCase(), ` ${real}`, `${real}\u0000`, real.slice(0, -1), `{${real}}`])
        add(id!.isList ? [spelled] : spelled);
    if (real !== undefined && id!.isList) add([real, real]);
    if (name === "page_token") for (const token of tokens) add(token);
  }
  for (const [one, other] of OPPOSITES)
    for (const [name, schema] of argumentsOf(tool)) {
      const opposite = name.replace(one, other);
      if (!name.startsWith(one) || shown[opposite] === undefined) continue;
      const word = schema.items?.type === "object" ? { name: "X-Same", path: "same", value: "1", text: "1" } : "same";
      uses.push({ what: `${name} and ${opposite}`, name, args: { ...right, [name]: [word], [opposite]: ["same"] } });
    }
  return uses;
}

/** Values in which one member is at its edge and the others are right. */
function nested(schema: JsonSchema, right: JsonValue | undefined): JsonValue[] {
  const inner = schema.type === "array" ? schema.items : schema;
  if (inner?.type !== "object" || inner.properties === undefined) return [];
  const [first] = [right].flat();
  const base = (typeof first === "object" && first !== null ? first : {}) as JsonObject;
  const made: JsonObject[] = Object.entries(inner.properties).flatMap(([member, of]) =>
    edgesOf(member, of as JsonSchema).map((value) => ({ ...filled(inner), ...base, [member]: value })),
  );
  const surprise = { ...filled(inner), ...base, surprise: 1 };
  return [...made, surprise].map((one) => (schema.type === "array" ? [one] : one));
}

const filled = ({ properties = {}, required = [] }: JsonSchema): JsonObject =>
  Object.fromEntries(required.map((name) => [name, (properties[name]?.enum as JsonValue[] | undefined)?.[0] ?? "x"]));

const short = (value: JsonValue): string => JSON.stringify(value).slice(0, 90);
