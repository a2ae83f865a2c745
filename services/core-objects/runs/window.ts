import { estimatedTokens } from "./estimated-tokens.js";

// How much of a conversation a model takes: from the deployment's settings, or from the provider's refusal. Providers
// count tokens, each in its own way; what a run sends is counted in characters, and each answer says how many tokens
// these were.

/** The share of a window that is filled: counts of tokens are not exact. */
const FILLED = 0.9;
/** Tokens that are left for an answer, if its length is not limited, and the most of a window for that. */
const ANSWER = 4_096;
const ANSWER_SHARE = 0.25;
/** What a refusal that states no window leaves of what was sent, and how much denser a text is than it seemed. */
const SMALLER = 0.7;
const DENSER = 1.3;
/** Tokens of a character are more than this, and fewer. */
const [LEAST_DENSITY, MOST_DENSITY] = [0.05, 4];

/** What a run knows of the window of its model. */
export class Window {
  #tokens: number | undefined;
  /** Tokens of a character. */
  #density = estimatedTokens(1_000) / 1_000;

  /** @param tokens as it is known; undefined for not at all. */
  constructor(tokens: number | undefined) {
    this.#tokens = tokens;
  }

  /** As it is known by now. */
  get tokens(): number | undefined {
    return this.#tokens;
  }

  /**
   * The characters that a request may have.
   *
   * @param answer tokens of the answer at most; undefined for any number.
   */
  characters(answer: number | undefined): number {
    if (this.#tokens === undefined) return Infinity;
    const reserved = Math.min(answer ?? ANSWER, this.#tokens * ANSWER_SHARE);
    return Math.floor(((this.#tokens - reserved) * FILLED) / this.#density);
  }

  /** About how many tokens so many characters are. */
  about(characters: number): number {
    return Math.ceil(characters * this.#density);
  }

  /** A request of so many characters was so many tokens. */
  took(characters: number, tokens: number): void {
    if (characters > 0) this.#density = Math.min(MOST_DENSITY, Math.max(LEAST_DENSITY, tokens / characters));
  }

  /**
   * A request of so many characters was too long.
   *
   * @param stated the window, if the provider said it.
   */
  refused(characters: number, stated: number | undefined): void {
    const before = this.#tokens;
    this.#tokens = stated ?? Math.floor(Math.min(before ?? Infinity, this.about(characters)) * SMALLER);
    // What fits by our count and not by theirs has more tokens than it seemed.
    if (stated !== undefined && this.about(characters) < stated * DENSER)
      this.#density = Math.min(MOST_DENSITY, Math.max((stated * DENSER) / characters, this.#density));
  }
}
