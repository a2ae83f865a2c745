// The platform's lists search columns that nobody expects, such as a requirement's
// URN, in which every requirement of its libraries has the word "risk". What it
// finds is looked through again here, with words split as it splits them.

// An asterisk divides words: each is found anywhere within a text.
const WORD = /"[^"]*"|'[^']*'|[^\s,*]+/g;

/** A query as the platform takes it; undefined for what finds everything. */
export function searchOf(query: string | undefined): string | undefined {
  return query?.match(WORD)?.map(quoted).join(" ");
}

/** A lone quote is a pair of quotes around nothing to the platform, which then finds everything. */
const quoted = (word: string) => (word === "'" ? `"'"` : word === '"' ? `'"'` : word);

/** The words of a query in lower case; what stands in quotes is one. */
export function wordsIn(query: string): string[] {
  const words = query.toLowerCase().match(WORD) ?? [];
  return words.map((word) => (/^(["']).*\1$/.test(word) && word.length > 1 ? word.slice(1, -1) : word)).filter(Boolean);
}

/** Whether each word of a query is in one of some texts. */
export function holds(query: string, texts: readonly (string | null | undefined)[]): boolean {
  const lower = texts.map((text) => (text ?? "").toLowerCase());
  return wordsIn(query).every((word) => lower.some((text) => text.includes(word)));
}
