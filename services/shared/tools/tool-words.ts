// What a search by words reads of a tool: its name, its description, and the names and texts of its arguments.

/** Whether list_intrusion_sets is one token or three. */
export type Names = "whole" | "split";

/** What is read of a tool. */
export interface ToolTexts {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of its arguments. */
  readonly inputSchema: unknown;
}

/** How deep a schema is read. */
const MAX_DEPTH = 16;

/** The lower-case words of a text. */
export function tokensOf(text: string, names: Names): string[] {
  return text.toLowerCase().match(names === "whole" ? /[a-z0-9_]+/g : /[a-z0-9]+/g) ?? [];
}

/** The text of a tool that is searched, in which its name stands as often as given. */
export function searchedTextOf({ name, description, inputSchema }: ToolTexts, nameWeight = 1): string {
  return [...Array<string>(nameWeight).fill(name), description, ...argumentsOf(inputSchema)].join(" ");
}

/** The names and texts of arguments, and of what they contain. */
function argumentsOf(schema: unknown, depth = 0): string[] {
  if (typeof schema !== "object" || schema === null || depth > MAX_DEPTH) return [];
  const { properties, items } = schema as { properties?: unknown; items?: unknown };
  const own = Object.entries(properties ?? {}).flatMap(([name, inner]) => {
    const { description } = (inner ?? {}) as { description?: unknown };
    const text = typeof description === "string" ? description : "";
    return [name, text, ...argumentsOf(inner, depth + 1)];
  });
  return [...own, ...argumentsOf(items, depth + 1)];
}
