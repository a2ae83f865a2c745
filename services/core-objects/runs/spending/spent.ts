import { NONE, type Usage } from "../usage.js";
import { costOf, type ModelFacts } from "./prices.js";

/** What requests to models took, as it is stored with steps and runs. */
export interface Spent {
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** Of the input, those that the provider had in its cache. */
  readonly cached_tokens: number;
  /** In nano-units of the deployment's currency. */
  readonly cost_nanos: number;
  /** Requests that took tokens and whose price is not known. */
  readonly unpriced: number;
}

/** Nothing spent. */
export const NOTHING: Spent = { input_tokens: 0, output_tokens: 0, cached_tokens: 0, cost_nanos: 0, unpriced: 0 };

/** What one request took. */
export function spentOn(facts: ModelFacts, model: string, usage: Usage = NONE): Spent {
  const cost = costOf(facts, model, usage);
  const { inputTokens: input_tokens, outputTokens: output_tokens, cachedTokens: cached_tokens } = usage;
  const unpriced = cost === undefined && input_tokens + output_tokens > 0 ? 1 : 0;
  return { input_tokens, output_tokens, cached_tokens, cost_nanos: cost ?? 0, unpriced };
}

/** Both together; what an older record does not have is nothing. */
export function sumOf(parts: readonly Partial<Spent>[]): Spent {
  const sum = (field: keyof Spent): number => parts.reduce((total, part) => total + (part[field] ?? 0), 0);
  return {
    input_tokens: sum("input_tokens"),
    output_tokens: sum("output_tokens"),
    cached_tokens: sum("cached_tokens"),
    cost_nanos: sum("cost_nanos"),
    unpriced: sum("unpriced"),
  };
}

/** All tokens of it. */
export function tokensOf({ input_tokens, output_tokens }: Spent): number {
  return input_tokens + output_tokens;
}
