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
const MAX_PREFIX = 500;
const MAX_MODELS = 100;

/** The prefixes of a model; undefined for one that has none. */
export function prefixesOf(model: string, setting: PrefixSetting = {}): Prefixes | undefined {
  const found = Object.hasOwn(setting, model) ? setting[model] : KNOWN.find(([one]) => one.test(model))?.[1];
  return found === undefined || (found.query === "" && found.passage === "") ? undefined : found;
}

/**
 * Reads the setting: JSON such as {"my-e5": {"query": "query: ", "passage": "passage: "}}.
 *
 * @throws Error that says what is wrong.
 */
export function readPrefixes(text: string): PrefixSetting {
  const wrong = new Error('must be JSON such as {"my-e5": {"query": "query: ", "passage": "passage: "}}');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw wrong;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong;
  const entries = Object.entries(value);
  if (entries.length > MAX_MODELS) throw new Error(`names more than ${MAX_MODELS} models`);
  return Object.fromEntries(
    entries.map(([model, given]) => {
      const { query, passage, ...more } = (given ?? {}) as Record<string, unknown>;
      if (!isPrefix(query) || !isPrefix(passage) || Object.keys(more).length > 0) throw wrong;
      return [model, { query, passage }];
    }),
  );
}

function isPrefix(value: unknown): value is string {
  return typeof value === "string" && value.length <= MAX_PREFIX;
}
