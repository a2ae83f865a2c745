/** How many calls begin at once before the loop has had a turn; those after them wait for theirs. */
const AT_ONCE = 8;
/** How many of them are only counted: to ask for the end of a turn costs as much as to let a call through. */
const UNWATCHED = 4;
/** How long waiting calls are begun in one turn, in milliseconds; at least one is begun. */
const SLICE_MS = 1;
/** How many are begun in one turn at most. */
const MOST_A_TURN = 8;
/** How long waiting calls are put off while connections come in turn after turn, in milliseconds. */
const PUT_OFF_MS = 25;
/** Calls of a caller that wait: as many as it may have open. */
const MOST_WAITING = 512;

/**
 * Begins the calls of a port caller by caller. One packet may open a hundred
 * streams, and a caller has many connections: the first calls of a turn of the event
 * loop begin at once, and what comes beyond them waits in a queue of its caller's.
 * The queues are served round and round, for a slice of each turn, so that between
 * two slices the loop accepts and reads other connections.
 */
export class Beginnings {
  readonly #now: () => number;
  /** What waits, by caller; the next caller first. */
  readonly #queues = new Map<string, (() => void)[]>();
  /** About how many were begun at once since the last turn. */
  #begun = 0;
  /** When what waits was last begun, and until when more of it may be in this turn. */
  #servedAt = 0;
  #sliceEnds = 0;
  #scheduled = false;
  /** A connection came in since the last turn. */
  #arrived = false;

  /** @param now milliseconds of a clock that only goes forward. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * A connection has come in. The loop accepts one in a turn, so that others may be
   * behind it, of any caller: turns are kept short until they are in.
   */
  arrived(): void {
    this.#arrived = true;
  }

  /** Whether a call begins at once; else it is for `turn`. Hot path. */
  admits(caller: string): boolean {
    if (this.#begun >= AT_ONCE || (this.#queues.size > 0 && this.#queues.has(caller))) return false;
    if (++this.#begun === UNWATCHED) this.#schedule();
    return true;
  }

  /** Whether more of a caller's calls wait than should. */
  isLong(caller: string): boolean {
    return (this.#queues.get(caller)?.length ?? 0) >= MOST_WAITING;
  }

  /** Resolves when the turn of a caller's call has come. */
  turn(caller: string): Promise<void> {
    return new Promise((resolve) => {
      const queue = this.#queues.get(caller);
      if (queue === undefined) this.#queues.set(caller, [resolve]);
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
    for (let i = 1; i < MOST_A_TURN; i++) setImmediate(() => this.#onRest());
  }

  #onTurn(): void {
    this.#scheduled = false;
    this.#begun = 0;
    const now = this.#now();
    const putsOff = this.#arrived && now - this.#servedAt < PUT_OFF_MS;
    this.#arrived = false;
    this.#sliceEnds = putsOff ? now : now + SLICE_MS;
    if (!putsOff) {
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
    const [caller, queue] = next;
    const begin = queue.shift() as () => void;
    this.#queues.delete(caller);
    if (queue.length > 0) this.#queues.set(caller, queue);
    begin();
  }
}
