/** Tokens of one request to a model. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Of the input, those that the service had in its cache. */
  readonly cachedTokens: number;
}

/** No tokens. */
export const NONE: Usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };
