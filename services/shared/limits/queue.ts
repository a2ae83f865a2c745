/** How much of a queue is run at once, and how much waits. */
export interface QueueLimits {
  /** What waits is run for this part of a turn of the event loop, in milliseconds; one entry always is. */
  readonly sliceMs: number;
  /** Entries that are run in one turn at most, if it was short. */
  readonly perTurn: number;
  /** Entries that are run for each millisecond since the last turn: after a long one they may be more. */
  readonly perMs: number;
  /** Entries that wait at most. */
  readonly waiting: number;
}

/** Runs its entries only while there is time, a few in each turn of the event loop, first in, first out. */
export class Queue {
  readonly #limits: QueueLimits;
  readonly #waiting: (() => void)[] = [];
  /** Entries of the list that were run in this turn. */
  #run = 0;
  /** When the last turn began, or the first entry came. */
  #since = 0;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  /** Takes an entry; false if too many wait already. */
  add(run: () => void): boolean {
    const { length } = this.#waiting;
    if (length - this.#run >= this.#limits.waiting) return false;
    this.#waiting.push(run);
    if (length === 0) {
      this.#since = performance.now();
      setImmediate(() => this.#turn());
    }
    return true;
  }

  #turn(): void {
    const { sliceMs, perTurn, perMs } = this.#limits;
    const now = performance.now();
    const until = now + sliceMs;
    const most = Math.max(perTurn, (now - this.#since) * perMs);
    do {
      const run = this.#waiting[this.#run] as () => void;
      this.#run++;
      run();
    } while (this.#run < this.#waiting.length && this.#run < most && performance.now() < until);
    this.#waiting.splice(0, this.#run);
    this.#run = 0;
    this.#since = now;
    if (this.#waiting.length > 0) setImmediate(() => this.#turn());
  }
}
