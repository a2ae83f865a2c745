import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { commentOf } from "./comments.js";
import type { Tool } from "./tools.js";
import type { NamesIn } from "./without-names.js";

/** An argument whose values other tools return, as its description says. */
export interface Source {
  /** The names that lead to the argument, outermost first. */
  readonly path: readonly string[];
  /** Whether it takes ids, and not names or other values. */
  readonly isId: boolean;
  /** The names of the reading tools that return its values. */
  readonly tools: readonly string[];
}

/** Bounds the walk into messages that contain themselves. */
const MAX_DEPTH = 5;

/**
 * The arguments of a tool whose descriptions name reading tools: "From list_scenarios."
 *
 * @param namesIn finds the names of the reading tools of the same server.
 */
export function sourcesOf({ method }: Tool, namesIn: NamesIn): Source[] {
  return inside(method.input, [], namesIn);
}

function inside(message: DescMessage, path: readonly string[], namesIn: NamesIn): Source[] {
  if (path.length === MAX_DEPTH || message.typeName.startsWith("google.")) return [];
  return message.fields.flatMap((field) => {
    const own = [...path, field.name];
    const tools = namesIn(commentOf(field));
    const inner = innerOf(field);
    return [
      ...(tools.length > 0 ? [{ path: own, isId: isIdName(field.name), tools }] : []),
      ...(inner === undefined ? [] : inside(inner, own, namesIn)),
    ];
  });
}

/** The message of a field or of its items; a map's keys are no names of arguments. */
function innerOf(field: DescField): DescMessage | undefined {
  return field.fieldKind === "map" ? undefined : field.message;
}

/** Whether an argument of this name takes ids. */
export function isIdName(name: string): boolean {
  return /(^|_)ids?$/.test(name);
}
