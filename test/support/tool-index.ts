import type { Tool } from "../../services/shared/tools/tools.js";
import { bm25 } from "./bm25.js";

// How clients that keep tools out of a model's context search them: by words, over
// names, descriptions, and the names and texts of arguments. Some keep a name whole,
// as one token, and some split it.

/** What a search reads of a tool. */
export type Described = Pick<Tool, "server" | "name"> & {
  readonly listing: Pick<Tool["listing"], "description" | "inputSchema">;
};

/** Whether list_intrusion_sets is one token or three. */
export type Names = "whole" | "split";

/** Both kinds of index. */
export const NAMES: readonly Names[] = ["whole", "split"];

/** Finds tools for a query, best first. */
export type Search = (query: string) => Described[];

/** An index of tools, in which a name counts as often as given. */
export function searchIn(tools: readonly Described[], names: Names, nameWeight = 1): Search {
  const rank = bm25(tools.map((tool) => tokensOf(textOf(tool, nameWeight), names)));
  return (query) => rank(tokensOf(query, names)).map((at) => tools[at] as Described);
}

/** The lower-case words of a text. */
export function tokensOf(text: string, names: Names): string[] {
  return text.toLowerCase().match(names === "whole" ? /[a-z0-9_]+/g : /[a-z0-9]+/g) ?? [];
}

function textOf({ name, listing }: Described, nameWeight: number): string {
  return [...Array<string>(nameWeight).fill(name), listing.description, ...argumentsOf(listing.inputSchema)].join(" ");
}

/** The names and texts of arguments, and of what they contain. */
function argumentsOf(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const { properties = {}, items } = schema as { properties?: Record<string, unknown>; items?: unknown };
  const own = Object.entries(properties).flatMap(([name, inner]) => {
    const { description } = inner as { description?: string };
    return [name, description ?? "", ...argumentsOf(inner)];
  });
  return [...own, ...argumentsOf(items)];
}
