import type { PrefixSetting } from "../core-objects/knowledge/prefixes.js";

const MAX_PREFIX = 500;
const MAX_MODELS = 100;

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
