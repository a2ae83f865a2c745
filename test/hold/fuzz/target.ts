import type { Random } from "./random.js";

/** What is fuzzed: something that takes one input after another. */
export interface FuzzTarget {
  readonly name: string;
  /** The different refusals that inputs have met, in words. */
  readonly refusals: ReadonlySet<string>;
  /** How many inputs it takes at once, where that matters. */
  readonly atOnce?: number;
  /** Sends one input, and says what is wrong with what came of it; undefined where nothing is. */
  one(random: Random): Promise<string | undefined>;
  close(): Promise<void>;
}

/** The words of a refusal without what it repeats of the input, so that the same refusal is counted once. */
export function wordsOf(message: string): string {
  return message
    .replace(/"(?:[^"\\]|\\.)*"/g, '"…"')
    .replace(/[^\x20-\x7e]+|\d+/g, "…")
    .slice(0, 60);
}
