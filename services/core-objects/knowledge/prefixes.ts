// Many models were trained with words before a question and before a passage,
// and find less without them.

/** What stands before a text that is embedded. */
export interface Prefixes {
  readonly query: string;
  readonly passage: string;
}

/** By model, in place of those that are known here. */
export type PrefixSetting = Readonly<Record<string, Prefixes>>;

/** As the cards of the models say. The first that fits counts. */
const KNOWN: readonly (readonly [model: RegExp, prefixes: Prefixes])[] = [
  [
    /\be5\b.*-instruct/i,
    {
      query: "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: ",
      passage: "",
    },
  ],
  [/\be5-(?:small|base|large)/i, { query: "query: ", passage: "passage: " }],
  [/nomic-embed-text/i, { query: "search_query: ", passage: "search_document: " }],
  [/embeddinggemma/i, { query: "task: search result | query: ", passage: "title: none | text: " }],
  [
    /snowflake-arctic-embed-l-v2|snowflake-arctic-embed-m-v2|snowflake-arctic-embed2/i,
    { query: "query: ", passage: "" },
  ],
  [
    /(?:bge-(?:small|base|large)-en|mxbai-embed-large|snowflake-arctic-embed)/i,
    { query: "Represent this sentence for searching relevant passages: ", passage: "" },
  ],
];

/** The prefixes of a model; undefined for one that has none. */
export function prefixesOf(model: string, setting: PrefixSetting = {}): Prefixes | undefined {
  const found = Object.hasOwn(setting, model) ? setting[model] : KNOWN.find(([one]) => one.test(model))?.[1];
  return found === undefined || (found.query === "" && found.passage === "") ? undefined : found;
}
