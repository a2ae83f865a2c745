// Descriptions without the tools that a caller lacks: a model that reads a name
// calls it. The smallest part of a sentence that names a missing tool is left
// out: a name of a list, a clause, a part between semicolons, or all of it.

/** Finds the names that a text holds as whole words. */
export type NamesIn = (text: string) => string[];

/** Builds the search for names. @param names of tools and arguments, in snake_case. */
export function namesFinder(names: readonly string[]): NamesIn {
  if (names.length === 0) return () => [];
  const any = new RegExp(`\\b(?:${names.join("|")})\\b`, "g");
  return (text) => [...new Set(text.match(any))];
}

/** A sentence ends before a capital, a digit, a quotation, a word with a colon, or a name of snake_case. */
const SENTENCES = /(?<=[.?!])(\s+)(?=["'(`A-Z0-9]|[a-z]\w*: |[a-z]+_)/;

/**
 * A text without the names that are missing.
 *
 * @returns "" if nothing is left.
 */
export function withoutNames(text: string, missing: NamesIn): string {
  if (missing(text).length === 0) return text;
  const pieces = text.split(SENTENCES);
  let kept = "";
  for (let at = 0; at < pieces.length; at += 2) {
    const piece = pieces[at] as string;
    const sentence = sentenceWithout(piece, missing) || (at === 0 ? beginningWithout(piece, missing) : "");
    if (sentence !== "") kept += kept === "" ? sentence : `${pieces[at - 1]}${sentence}`;
  }
  return kept;
}

function sentenceWithout(sentence: string, missing: NamesIn): string {
  if (missing(sentence).length === 0) return sentence;
  const end = /[.?!]$/.exec(sentence)?.[0] ?? "";
  const parts = (end === "" ? sentence : sentence.slice(0, -1)).split("; ");
  const kept = parts.map((part) => partWithout(part, missing)).filter((part) => part !== "");
  if (kept.length === 0) return "";
  const [first, ...rest] = kept as [string, ...string[]];
  // A part that came later begins the sentence now; a name of snake_case stays as it is.
  const begun = missing(parts[0] as string).length > 0 && !/^[a-z]+_/.test(first) ? capital(first) : first;
  return `${[begun, ...rest].join("; ")}${end}`;
}

const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** A text keeps its subject: its first sentence up to the last comma or colon before a missing name. */
function beginningWithout(sentence: string, missing: NamesIn): string {
  const until = Math.min(...missing(sentence).map((name) => sentence.indexOf(name)));
  const beginning = /^(.*)[,:] /s.exec(sentence.slice(0, until))?.[1];
  return beginning === undefined ? "" : `${beginning}.`;
}

/** A clause that only says where something comes from, or more of it, and can go. */
const CLAUSE = /,? \([^()]*\)|, (?:from|as|which|of which|of what|such as|see|for|in) [^,:()]*[^,:() ]/g;
/** Names between commas and a last "or" or "and". */
const LIST = /\b[a-z]+(?:_[a-z]+)+(?:(?:, | or | and |, or |, and )[a-z]+(?:_[a-z]+)+)+\b/g;

function partWithout(part: string, missing: NamesIn): string {
  const pruned = part.replace(LIST, (list) => listWithout(list, missing));
  if (missing(pruned).length === 0) return pruned;
  const cut = pruned.replace(CLAUSE, (clause) => (missing(clause).length > 0 ? "" : clause));
  return missing(cut).length === 0 ? cut : "";
}

/** A list with what is there; as it is if nothing would be left. */
function listWithout(list: string, missing: NamesIn): string {
  const names = list.split(/,? (?:or|and) |, /);
  const kept = names.filter((name) => missing(name).length === 0);
  if (kept.length === 0) return list;
  const word = / and /.test(list) ? " and " : " or ";
  return kept.length === 1 ? (kept[0] as string) : `${kept.slice(0, -1).join(", ")}${word}${kept.at(-1)}`;
}
