import type { Random } from "./random.js";

/** What is fuzzed: something that takes one input after another. */
export interface FuzzTarget {
  readonly name: string;
  /** Sends one input, and says what is wrong with what came of it; undefined where nothing is. */
  one(random: Random): Promise<string | undefined>;
  close(): Promise<void>;
}
