// The words that docs/style.md refuses in texts that a user or a model reads.

/** A text and where it stands. */
export interface Passage {
  readonly at: string;
  readonly text: string;
}

/** What docs/style.md refuses. */
export interface Refused {
  readonly words: readonly string[];
  /** The first words of sentences. */
  readonly beginnings: readonly string[];
}

/** The table under a heading of the style page. */
export function refusedBy(page: string, heading = "Refused"): Refused {
  const [, table = ""] = page.split(`\n## ${heading}\n`);
  const rows = [...(table.split("\n## ")[0] as string).matchAll(/^\| ([^|]+) \| [^|]+ \|$/gm)];
  const entries = rows.flatMap(([, entry]) => (entry as string).split(", "));
  const listed = entries.filter((entry) => entry !== "Refused" && !/^-+$/.test(entry));
  return {
    words: listed.filter((entry) => !entry.endsWith(" …")),
    beginnings: listed.filter((entry) => entry.endsWith(" …")).map((entry) => entry.slice(0, -2)),
  };
}

/**
 * Texts of a program as sentences: errors begin with a small letter, often
 * after the name of an argument, and end without a full stop.
 */
export function asSentences(texts: readonly Passage[]): Passage[] {
  return texts.map(({ at, text }) => ({
    at,
    text: `${text.replace(/(^|[;:] )(\p{Ll})/gu, (_, before, letter) => before + letter.toUpperCase())}.`,
  }));
}

/** One line for each refused word of a text. */
export function styleProblemsOf(passages: readonly Passage[], { words, beginnings }: Refused): string[] {
  const word = new RegExp(`\\b(?:${words.join("|").replaceAll(" ", "\\s+")})\\b`, "gi");
  // A question may begin so; a heading of a table ends without a full stop.
  const beginning = new RegExp(`(?:^|[.!?;:|]\\s+)((?:${beginnings.join("|")})\\s[^.?|]*)\\.`, "gm");
  return passages.flatMap(({ at, text }) => [
    ...[...text.matchAll(word)].map(([found]) => `${at}: "${found.replace(/\s+/g, " ")}"`),
    ...[...text.matchAll(beginning)].map(([, found]) => `${at}: begins "${found?.replace(/\s+/g, " ").slice(0, 40)}…"`),
  ]);
}

/** The paragraphs, items and rows of a page, each with its line; code is left out. */
export function passagesOf(file: string, page: string): Passage[] {
  const prose = page.replace(/```[\s\S]*?```|`[^`\n]*`/g, (code) => code.replace(/[^\n]/g, " "));
  let line = 1;
  return prose.split(/(\n\n|\n(?=\s*[-|#]|\s*\d+\. ))/).flatMap((piece) => {
    const at = `${file}:${line}`;
    line += piece.split("\n").length - 1;
    const text = piece.trim().replace(/\n\s*/g, " ");
    return text === "" || text.startsWith("#") ? [] : [{ at, text: text.replace(/^(?:[-|]|\d+\.)\s*/, "") }];
  });
}
