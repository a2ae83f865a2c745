import type { DescField, DescMessage } from "@bufbuild/protobuf";
import type { Tool } from "../../services/shared/tools/tools.js";

/** Ids that the caller makes, and references that people give. */
const OWN = ["request_id", "ref_id", "under_ref_id", "external_id"];

/** An argument that takes ids which tools return. */
export interface IdArgument {
  readonly tool: Tool;
  readonly field: DescField;
  /** The names that lead to it, outermost first. */
  readonly path: readonly string[];
}

/** The id arguments of a tool. */
export function idArgumentsOf(
  tool: Tool,
  message: DescMessage = tool.method.input,
  outer: readonly string[] = [],
): IdArgument[] {
  return message.fields.flatMap((field) => {
    const path = [...outer, field.name];
    const own = /(^|_)ids?$/.test(field.name) && !OWN.includes(field.name) ? [{ tool, field, path }] : [];
    const { message: inner } = field;
    return [
      ...own,
      ...(inner === undefined || inner.typeName.startsWith("google.") ? [] : idArgumentsOf(tool, inner, path)),
    ];
  });
}

/** Whether a result holds ids. */
export function givesIds(message: DescMessage, seen = new Set<DescMessage>()): boolean {
  if (seen.has(message)) return false;
  seen.add(message);
  return message.fields.some(
    ({ name, message: inner }) => /(^|_)id$/.test(name) || (inner !== undefined && givesIds(inner, seen)),
  );
}
