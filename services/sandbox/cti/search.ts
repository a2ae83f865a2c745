import { matchesWildcards } from "../wildcards.js";
import type { Thing } from "./thing.js";

// Full text as the platform searches it: words are ORed and each is a prefix,
// a leading * lets it begin anywhere, quotes make a phrase of whole tokens. Tokens
// are those of Unicode text segmentation: a full stop between two letters or
// two digits is inside of one. Accents are not folded.

const cache = new WeakMap<Thing, { readonly at: string; readonly tokens: readonly string[]; readonly name: number }>();

/** Scores an element for a search text; 0 where it does not match. */
export type Scorer = (thing: Thing) => number;

/** Scores elements for a search text; an empty text or * fits all. */
export function scorerOf(search: string): Scorer {
  const wanted = search.trim();
  if (wanted === "" || wanted === "*") return () => 1;
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(wanted)) return (thing) => (thing.id === wanted ? 10 : 0);
  if ((wanted.match(/"/g)?.length ?? 0) % 2 === 1) return () => 0;
  return matcherOf(wanted);
}

/** Scores a text alone, as a filter on some fields does. */
export function textScorerOf(search: string): (text: string) => number {
  const score = scoreOf(search.trim());
  return (text) => score(tokensOf(text), 0);
}

function matcherOf(wanted: string): Scorer {
  const score = scoreOf(wanted);
  return (thing) => {
    if (thing.standardId === wanted) return 100;
    const { tokens, name } = tokensOfThing(thing);
    return score(tokens, name);
  };
}

/** Scores tokens, of which the first few are of the name. */
function scoreOf(wanted: string): (tokens: readonly string[], name: number) => number {
  const phrases = [...wanted.matchAll(/"([^"]*)"/g)].map(([, phrase]) => tokensOf(phrase as string));
  const words = wanted
    .replace(/"[^"]*"/g, " ")
    .split(/\s+/)
    .filter((word) => word !== "");
  const matchers: ((token: string) => number)[] = words.flatMap((word) => {
    // A word with asterisks is compared with whole tokens; one is added at its end.
    if (word.includes("*"))
      return [(token: string) => (matchesWildcards(token, `${word.toLowerCase()}*`, { any: "*" }) ? 1 : 0)];
    return tokensOf(word).map((part) => (token: string) => {
      if (token === part) return 3;
      if (token.startsWith(part)) return 1;
      return 0;
    });
  });
  return (tokens, name) => {
    let score = 0;
    for (const matches of matchers) {
      let best = 0;
      tokens.forEach((token, index) => {
        best = Math.max(best, matches(token) * (index < name ? 4 : 1));
      });
      score += best;
    }
    for (const phrase of phrases) if (phrase.length > 0 && holds(tokens, phrase)) score += 12;
    return score;
  };
}

const TOKEN = /[\p{L}\p{N}_]+(?:(?:(?<=\p{L})[.'’](?=\p{L})|(?<=\p{N})[.,](?=\p{N}))[\p{L}\p{N}_]+)*/gu;

function tokensOf(text: string): string[] {
  return text.toLowerCase().match(TOKEN) ?? [];
}

function tokensOfThing(thing: Thing) {
  const kept = cache.get(thing);
  if (kept?.at === thing.updatedAt) return kept;
  const { name, value, ...rest } = thing.attributes;
  const first = tokensOf(flat([name, value]));
  const made = { at: thing.updatedAt, tokens: [...first, ...tokensOf(flat(rest))], name: first.length };
  cache.set(thing, made);
  return made;
}

function flat(value: unknown): string {
  if (typeof value === "string") return `${value} `;
  if (Array.isArray(value)) return value.map(flat).join(" ");
  if (typeof value === "object" && value !== null) return Object.values(value).map(flat).join(" ");
  return "";
}

function holds(tokens: readonly string[], phrase: readonly string[]): boolean {
  for (let at = 0; at + phrase.length <= tokens.length; at += 1) {
    if (phrase.every((word, index) => tokens[at + index] === word)) return true;
  }
  return false;
}
