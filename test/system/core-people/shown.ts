import type { JsonSchema } from "../../../services/shared/tools/schema.js";

/** A tool as tools/list shows it: all that a stranger knows of it. */
export interface Shown {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly annotations: { readonly readOnlyHint: boolean; readonly destructiveHint: boolean };
}

/** The arguments of a tool, by name. */
export function argumentsOf({ inputSchema }: Shown): [string, JsonSchema][] {
  return Object.entries(inputSchema.properties ?? {});
}

/** The names of the arguments that a tool requires. */
export function requiredOf({ inputSchema }: Shown): readonly string[] {
  return inputSchema.required ?? [];
}
