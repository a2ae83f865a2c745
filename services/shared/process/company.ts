import { turn } from "./turn.js";

/** Turns of the event loop that are waited for if several shared the last write, and milliseconds after which none begins. */
const MOST = { turns: 4, ms: 2 };

/**
 * Group commit: what several want written goes in one write, which costs about as much as that of one. Each write waits
 * for the end of its turn of the event loop, and for a few turns more if several shared the last one.
 */
export class Company {
  #last = 1;

  /** Before a write: waits for what shares it. */
  async gather(): Promise<void> {
    const until = performance.now() + MOST.ms;
    const turns = this.#last > 1 ? MOST.turns : 1;
    for (let n = 0; n < turns && performance.now() < until; n++) await turn();
  }

  /** As many share the write that begins now. */
  share(count: number): void {
    this.#last = count;
  }
}
