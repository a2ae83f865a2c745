import type { Usage } from "../usage.js";
import { type Fields, fieldsOf, listOf, wordIn } from "./loose-json.js";

/** More tokens than this in one request are not believed. */
const MAX_TOKENS = 50_000_000;

/** Where an answer, or a piece of one, states its tokens: in its usage, in one of the service's own, or in the choice. */
export function statedIn({ usage, x_groq, choices }: Fields): unknown {
  return usage ?? fieldsOf(x_groq).usage ?? fieldsOf(listOf(choices)[0]).usage;
}

/** What a service states of tokens, in the words of several; undefined if it states none. */
export function usageIn(value: unknown): Usage | undefined {
  const usage = fieldsOf(value);
  const read = tokens(usage.cache_read_input_tokens);
  // Who names the cache beside the input does not count it there.
  const beside = usage.prompt_tokens === undefined ? read + tokens(usage.cache_creation_input_tokens) : 0;
  const inputTokens = tokens(usage.prompt_tokens ?? usage.input_tokens) + beside;
  const outputTokens = tokens(usage.completion_tokens ?? usage.output_tokens);
  if (inputTokens === 0 && outputTokens === 0) return undefined;
  const details = fieldsOf(usage.prompt_tokens_details ?? usage.input_tokens_details);
  const cached = tokens(details.cached_tokens) || tokens(usage.prompt_cache_hit_tokens) || read;
  return { inputTokens, outputTokens, cachedTokens: Math.min(cached, inputTokens) };
}

function tokens(count: unknown): number {
  const number = Number(wordIn(count));
  return Number.isSafeInteger(number) && number > 0 && number <= MAX_TOKENS ? number : 0;
}
