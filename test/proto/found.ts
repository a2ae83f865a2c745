import { tokensOf } from "../../services/shared/tools/tool-words.js";
import { cosine, tfIdf } from "../support/bm25.js";
import { type Described, NAMES, searchIn } from "../support/tool-index.js";

// Whether a model that searches tools by words finds the right one. Each function
// returns one line a problem, for the whole list of one server.

/**
 * Clients that search weigh a name far above a text. If they did not, a tool would be
 * found after those that name it: the whole name stands once in its own text and in theirs.
 */
const NAME_WEIGHT = 8;
/** A description that is more alike than this to another one must name its tool. */
const MAX_ALIKE = 0.85;
const MAX_FIRST_SENTENCE = 120;
/** The part of the instructions that every client shows. */
const OPENING = 300;

/** The plural noun of a kind finds the tool that lists it among the first three. */
export function nounProblemsOf(tools: readonly Described[]): string[] {
  return NAMES.flatMap((names) => {
    const search = searchIn(tools, names);
    return [...kindsOf(tools)].flatMap(([noun, listing]) => {
      const first = search(noun).slice(0, 3);
      if (first.some(({ name }) => listing.includes(name))) return [];
      return [`names ${names}: "${noun}" finds ${namesOf(first)}, not ${listing.join(" or ")}`];
    });
  });
}

/** The plural nouns, each with the tools that list such objects: of the platform, or of one object. */
function kindsOf(tools: readonly Described[]): Map<string, string[]> {
  const kinds = new Map<string, string[]>();
  for (const { name } of tools) {
    const noun = /^(?:list|search)_(?:entity_(?!types$))?(.+)$/.exec(name)?.[1]?.replaceAll("_", " ");
    if (noun !== undefined && noun !== "all") kinds.set(noun, [...(kinds.get(noun) ?? []), name]);
  }
  return kinds;
}

/** How far down an exact name may find its tool: split, the words of a name are those of longer names too. */
const EXACT_WITHIN = { whole: 1, split: 3 } as const;

/** The exact name of a tool finds it first, and among the first three if names are split. */
export function exactProblemsOf(tools: readonly Described[]): string[] {
  return NAMES.flatMap((names) => {
    const search = searchIn(tools, names, NAME_WEIGHT);
    return tools.flatMap(({ name }) => {
      const first = search(name).slice(0, EXACT_WITHIN[names]);
      return first.some((one) => one.name === name) ? [] : [`names ${names}: ${name} finds ${namesOf(first)}`];
    });
  });
}

/** Two tools whose descriptions are alike name each other. */
export function alikeProblemsOf(tools: readonly Described[]): string[] {
  const words = tools.map(({ listing }) => tokensOf(listing.description, "whole"));
  const vectors = tfIdf(words);
  return tools.flatMap((one, i) =>
    tools.slice(i + 1).flatMap((other, after) => {
      const j = i + 1 + after;
      const alike = cosine(vectors[i]!, vectors[j]!);
      if (alike <= MAX_ALIKE || (words[i]!.includes(other.name) && words[j]!.includes(one.name))) return [];
      return [`${one.name} and ${other.name} are alike (${alike.toFixed(2)}) and do not name each other`];
    }),
  );
}

/** The first sentence of a description is short. */
export function sentenceProblemsOf(tools: readonly Described[]): string[] {
  return tools.flatMap(({ name, listing }) => {
    const { length } = listing.description.split(/(?<=[.!?])\s/, 1)[0] as string;
    return length > MAX_FIRST_SENTENCE
      ? [`${name} begins with a sentence of ${length} characters; at most ${MAX_FIRST_SENTENCE}`]
      : [];
  });
}

/** Instructions begin with the product and say when to search for tools here. */
export function openingProblemsOf(instructions: string, product: string): string[] {
  const opening = instructions.slice(0, OPENING);
  return [
    opening.includes(product) ? [] : [`the first ${OPENING} characters do not name ${product}`],
    /[Ss]earch for tools here when [^.]+\./.test(opening)
      ? []
      : [`the first ${OPENING} characters do not say when to search for tools here`],
  ].flat();
}

const namesOf = (tools: readonly Described[]): string => tools.map(({ name }) => name).join(", ") || "nothing";
