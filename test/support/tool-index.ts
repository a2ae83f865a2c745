import { bm25 } from "../../services/shared/tools/bm25.js";
import { type Names, searchedTextOf, tokensOf } from "../../services/shared/tools/tool-words.js";
import type { Tool } from "../../services/shared/tools/tools.js";

// How clients that keep tools out of a model's context search them: by words, over
// names, descriptions, and the names and texts of arguments. Some keep a name whole,
// as one token, and some split it.

/** What a search reads of a tool. */
export type Described = Pick<Tool, "server" | "name"> & {
  readonly listing: Pick<Tool["listing"], "description" | "inputSchema">;
};

/** Both kinds of index. */
export const NAMES: readonly Names[] = ["whole", "split"];

/** Finds tools for a query, best first. */
export type Search = (query: string) => Described[];

/** An index of tools, in which a name counts as often as given. */
export function searchIn(tools: readonly Described[], names: Names, nameWeight = 1): Search {
  const texts = tools.map(({ name, listing }) => searchedTextOf({ name, ...listing }, nameWeight));
  const rank = bm25(texts.map((text) => tokensOf(text, names)));
  return (query) => rank(tokensOf(query, names)).map((at) => tools[at] as Described);
}
