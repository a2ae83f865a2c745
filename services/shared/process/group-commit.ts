import { setImmediate as nextTurn } from "node:timers/promises";

/** Turns of the event loop that are waited for if several shared the last write, and milliseconds after which none begins. */
const MOST = { turns: 4, ms: 2 };

/**
 * Lets several share a write, which costs about as much as the write of one. Each write waits for the end of its turn of the
 * event loop, and for a few turns more if several shared the last one.
 */
export class GroupCommit {
  #last = 1;

  /** Before a write: waits for those who share it. */
  async gather(): Promise<void> {
    const until = performance.now() + MOST.ms;
    const turns = this.#last > 1 ? MOST.turns : 1;
    for (let n = 0; n < turns && performance.now() < until; n++) await nextTurn();
  }

  /** Says how many share the write that begins now. */
  share(count: number): void {
    this.#last = count;
  }
}
