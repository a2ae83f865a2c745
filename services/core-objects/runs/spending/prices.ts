import type { Usage } from "../usage.js";

// What a request to a model costs. Amounts are whole nano-units of the deployment's currency: they add up exactly, in
// the store too.

/** What tokens of a model cost, for a million of them. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** Of those that the provider had in its cache. */
  readonly cached: number;
}

/** What is known of a model. */
export interface ModelFact {
  readonly price?: Price;
  /** Tokens that it reads at a time, with those that it writes. */
  readonly window?: number;
}

/** What a deployment knows of models. */
export interface ModelFacts {
  /** As ISO 4217 has it. */
  readonly currency: string;
  /** By the name that the provider gives the model. */
  readonly models: ReadonlyMap<string, ModelFact>;
}

/** Where nothing is known. */
export const NO_FACTS: ModelFacts = { currency: "", models: new Map() };

/** Nano-units of one unit of a currency, and of a price for a million tokens by token. */
export const NANOS = 1e9;
const NANOS_A_TOKEN = NANOS / 1e6;

/** What tokens cost, in nano-units; undefined if the price is not known. */
export function costOf({ models }: ModelFacts, model: string, usage: Usage): number | undefined {
  const price = models.get(model)?.price;
  if (price === undefined) return undefined;
  const { inputTokens, outputTokens, cachedTokens } = usage;
  const whole = (inputTokens - cachedTokens) * price.input + cachedTokens * price.cached + outputTokens * price.output;
  return Math.round(whole * NANOS_A_TOKEN);
}
