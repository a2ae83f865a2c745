/** How many entries run in a turn of the event loop, and how many wait. */
export interface HolderQueueLimits {
  /** Entries that begin at once before the loop has had a turn; those after them wait. */
  readonly atOnce: number;
  /** How many of them are only counted: to ask for the end of a turn costs as much as to let a call through. */
  readonly unwatched: number;
  /** How long waiting entries are begun in one turn, in milliseconds; at least one is begun. */
  readonly sliceMs: number;
  /** How many are begun in one turn at most. */
  readonly perTurn: number;
  /** The longest time for which delay() puts off waiting entries, in milliseconds. */
  readonly delayMs: number;
  /** Entries of a holder that wait before its queue is long. */
  readonly waiting: number;
}

/**
 * Queues of calls, one for each holder. The first calls of a turn of the event loop
 * begin at once, and those beyond them wait in the queue of their holder. The queues are
 * served one after the other, for a slice of each turn, so that between two slices the
 * loop accepts and reads other connections.
 */
export class HolderQueues {
  readonly #limits: HolderQueueLimits;
  readonly #now: () => number;
  /** What waits, by holder; the next holder first. */
  readonly #queues = new Map<string, (() => void)[]>();
  /** About how many were begun at once since the last turn. */
  #begun = 0;
  /** When what waits was last begun, and until when more of it may be in this turn. */
  #servedAt = 0;
  #sliceEnds = 0;
  #scheduled = false;
  #isDelayed = false;

  /** @param now milliseconds of a clock that only goes forward. */
  constructor(limits: HolderQueueLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  /**
   * Keeps the next turn short, for a connection that came in. The loop accepts one in a
   * turn, so others may be behind it, of any holder.
   */
  delay(): void {
    this.#isDelayed = true;
  }

  /** Whether a call begins at once; else it is for `turn`. Hot path. */
  admits(holder: string): boolean {
    const { atOnce, unwatched } = this.#limits;
    if (this.#begun >= atOnce || (this.#queues.size > 0 && this.#queues.has(holder))) return false;
    if (++this.#begun === unwatched) this.#schedule();
    return true;
  }

  /** Whether more calls of a holder wait than should. */
  isLong(holder: string): boolean {
    return (this.#queues.get(holder)?.length ?? 0) >= this.#limits.waiting;
  }

  /** Resolves when the turn of a holder's call has come. */
  turn(holder: string): Promise<void> {
    return new Promise((resolve) => {
      const queue = this.#queues.get(holder);
      if (queue === undefined) this.#queues.set(holder, [resolve]);
      else queue.push(resolve);
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#onTurn());
    if (this.#queues.size === 0) return;
    // One for each, so that what a call does before it waits is seen in the time that the slice has taken.
    for (let i = 1; i < this.#limits.perTurn; i++) setImmediate(() => this.#onRest());
  }

  #onTurn(): void {
    const { delayMs, sliceMs } = this.#limits;
    this.#scheduled = false;
    this.#begun = 0;
    const now = this.#now();
    const waits = this.#isDelayed && now - this.#servedAt < delayMs;
    this.#isDelayed = false;
    this.#sliceEnds = waits ? now : now + sliceMs;
    if (!waits) {
      this.#servedAt = now;
      this.#beginNext();
    }
    if (this.#queues.size > 0) this.#schedule();
  }

  #onRest(): void {
    if (this.#now() < this.#sliceEnds) this.#beginNext();
  }

  #beginNext(): void {
    const [next] = this.#queues;
    if (next === undefined) return;
    const [holder, queue] = next;
    const begin = queue.shift() as () => void;
    this.#queues.delete(holder);
    if (queue.length > 0) this.#queues.set(holder, queue);
    begin();
  }
}
