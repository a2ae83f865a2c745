import type { JsonObject } from "@bufbuild/protobuf";
import { invalidArgument } from "../../../shared/rpc/errors.js";
import { bm25 } from "../../../shared/tools/bm25.js";
import { shorten } from "../../../shared/tools/shorten.js";
import { searchedTextOf, tokensOf } from "../../../shared/tools/tool-words.js";
import { estimatedTokens } from "../estimated-tokens.js";
import type { StepRecord } from "../record.js";
import type { AgentTool } from "./agent-tool.js";

// An agent with many tools is not told of all of them with each request: its model looks for what it needs, as MCP
// clients do, and is told in full of what it found. Chat completions have no search of their own for that.

/** More tools than this are searched, and so are those that take more of the window than this share. */
const MAX_LISTED = 30;
const MAX_SHARE = 0.03;
/** Tools that one search finds, and that are told in full at a time. */
const FOUND = 5;
const MAX_FOUND = 30;
const MAX_QUERY = 500;
const SHOWN = 200;

const NAME = "find_tools";

/** The tools that a model is told of in full, as far as its run has come. */
export type OfferedAfter = (steps: readonly StepRecord[]) => readonly AgentTool[];

/** Tools as a model is offered them. */
export interface Offer {
  /** All that may be called, also those that the model has to find. */
  readonly tools: readonly AgentTool[];
  readonly offeredAfter: OfferedAfter;
  /** What the model is told of those that it has to find; "" if it is told of all. */
  readonly told: string;
}

/**
 * Offers a model all of its tools, or those that it always has with a search of the others.
 *
 * @param always what it always has.
 * @param windowTokens what the model reads at a time.
 */
export function offerOf(always: readonly AgentTool[], others: readonly AgentTool[], windowTokens: number): Offer {
  const all = [...always, ...others];
  if (others.length <= MAX_LISTED && tokensIn(others) <= MAX_SHARE * windowTokens)
    return { tools: all, offeredAfter: () => all, told: "" };
  const search = searchIn(others);
  const find: AgentTool = { ...FIND_TOOLS, call: async (args) => answerOf(search(queryIn(args)), others.length) };
  const byName = new Map(others.map((tool) => [tool.name, tool]));
  return {
    tools: [...always, find, ...others],
    offeredAfter(steps) {
      // The newest last: of too many those stay that were found or called last.
      const found = new Set<AgentTool>();
      const again = (tool: AgentTool | undefined): void => {
        if (tool === undefined) return;
        found.delete(tool);
        found.add(tool);
      };
      for (const { kind, name, state, input, calls } of steps) {
        for (const call of calls) again(byName.get(call.name));
        if (kind === "tool" && name === NAME && state === "completed")
          search(queryOf(input)).toReversed().forEach(again);
      }
      return [...always, find, ...[...found].slice(-MAX_FOUND)];
    },
    told: `You have ${others.length} more tools (${placesOf(others)}), which are not listed to save space. Call ${NAME} with words for your task; you can call the tools that it finds.`,
  };
}

const FIND_TOOLS = {
  name: NAME,
  label: NAME,
  known: NAME,
  target: NAME,
  readsOutside: false,
  writesOutside: false,
  description:
    "Finds tools by words for what you want to do, such as: list attack patterns of a threat actor. Returns the names of the best matches, which you can call from then on. Use it before you say that you cannot do something.",
  parameters: {
    type: "object",
    properties: { query: { type: "string", description: "Words for your task, in English." } },
    required: ["query"],
  },
  readOnly: true,
} as const;

function searchIn(tools: readonly AgentTool[]): (query: string) => AgentTool[] {
  const rank = bm25(tools.map(wordsOf));
  return (query) =>
    rank(tokensOf(query, "split"))
      .slice(0, FOUND)
      .map((at) => tools[at] as AgentTool);
}

const known = new WeakMap<AgentTool, string[]>();

/** Our own tools are the same objects in all runs. */
function wordsOf(tool: AgentTool): string[] {
  const { name, description, parameters: inputSchema } = tool;
  const words = known.get(tool) ?? tokensOf(searchedTextOf({ name, description, inputSchema }), "split");
  known.set(tool, words);
  return words;
}

function answerOf(found: readonly AgentTool[], of: number): string {
  if (found.length === 0) return `none of ${of} tools has one of these words: use other words`;
  return JSON.stringify({
    tools: found.map(({ name, description }) => ({ name, description: shorten(description, SHOWN) })),
  });
}

function queryIn({ query }: JsonObject): string {
  if (typeof query !== "string" || query.trim() === "") throw invalidArgument("query must be words");
  return query.slice(0, MAX_QUERY);
}

function queryOf(input: string): string {
  try {
    return queryIn(JSON.parse(input) as JsonObject);
  } catch {
    return "";
  }
}

/** Where the tools are from, and how many, such as cti 120, aev 110. */
function placesOf(tools: readonly AgentTool[]): string {
  const counts = new Map<string, number>();
  for (const { label } of tools) {
    const place = shorten(label.split("/", 1)[0], SHOWN);
    counts.set(place, (counts.get(place) ?? 0) + 1);
  }
  return [...counts].map(([place, count]) => `${place} ${count}`).join(", ");
}

function tokensIn(tools: readonly AgentTool[]): number {
  return estimatedTokens(
    tools.reduce(
      (sum, { name, description, parameters }) =>
        sum + name.length + description.length + JSON.stringify(parameters).length,
      0,
    ),
  );
}
