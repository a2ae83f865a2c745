import { heardIn } from "./announcement.js";
import { Lane } from "./lane.js";

/** A lane that could not be opened is not tried again for this long, in milliseconds. */
const SHUNNED_MS = 10_000;

/** The lanes of the addresses that this process calls, each opened when an answer has announced it. */
export class Lanes {
  readonly #lanes = new Map<string, Lane>();
  /** By performance.now(): when one that could not be opened may be tried again. */
  readonly #shunned = new Map<string, number>();

  /** The lane of an address; undefined if none is known. */
  of(url: string): Lane | undefined {
    return this.#lanes.get(url);
  }

  /** Takes note of what an answer of an address says. No call waits for a lane that is opened so. */
  learn(url: string, header: Headers): void {
    if (this.#lanes.has(url)) return;
    const heard = heardIn(header, url);
    if (heard === undefined || performance.now() < (this.#shunned.get(url) ?? 0)) return;
    const lane = new Lane(heard, (wasOpen) => {
      this.#lanes.delete(url);
      if (!wasOpen) this.#shunned.set(url, performance.now() + SHUNNED_MS);
    });
    this.#lanes.set(url, lane);
  }
}
