import type { Share } from "./share.js";

/** So long after two keys were last seen by turns, one of them is alone again, in milliseconds. */
const ALONE_MS = 1_000;
/** A key that is alone begins so many before the loop has had a turn. */
const ALONE_A_TURN = 32;
/** Of them so many are only counted: to ask for the end of the turn costs as much as to begin a call. */
const UNWATCHED = 8;
/** What waits is begun in so much of a turn, in milliseconds; one always is. */
const SLICE_MS = 0.5;
/** At most so many are begun in a turn. */
const MOST_A_TURN = 8;
/** After a turn that took longer than this the loop has work enough: no key begins a second call, in milliseconds. */
const LONG_TURN_MS = 0.25;
/** Where keys come by turns and the loop is busy, a key whose call has ended leaves so many turns to the others' before the next. */
const REST_TURNS = 2;
/** A key that has begun nothing for so long may, whatever else of it hangs, in milliseconds. */
const STALL_MS = 50;

/**
 * Shares the event loop among keys. A key that is alone begins what it sends at
 * once, for the price of two comparisons, up to what a turn can bear. Where keys come by turns, what
 * one sends beyond one call waits in a queue of its own, and the queues are
 * served round and round: however many connections a key has, no more than a few
 * of its calls are in front of another's. A key begins a second call beside a
 * first only while the loop has time, calls that wait for a platform cost it
 * nothing, or where the first ones hang.
 */
export class Turns {
  readonly #now: () => number;
  #latest: Share | undefined;
  #contended = false;
  #metAt = 0;
  #watch: NodeJS.Timeout | undefined;
  #turn = 0;
  #turnAt = 0;
  #busy = false;
  /** Of a lone key, about how many were begun since the last turn. */
  #begun = 0;
  #scheduled = false;
  /** The keys for which something waits, the next first. */
  readonly #queues: Share[] = [];

  /** @param now milliseconds of a clock that only goes forward. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether what a key sends now begins at once; else it is for `wait`. Hot path. */
  admits(share: Share): boolean {
    if (share !== this.#latest) this.#meet(share);
    return this.#contended ? this.#admitsNow(share) : this.#admitsAlone(share);
  }

  /** Calls `begin` when the key's turn has come. */
  wait(share: Share, begin: () => void): void {
    share.waiting.push(begin);
    if (share.waiting.length === 1) this.#queues.push(share);
    this.#schedule();
  }

  /** Takes back what waits still, such as the request of a client that has gone. */
  leave(share: Share, begin: () => void): void {
    const at = share.waiting.indexOf(begin);
    if (at < 0) return;
    share.waiting.splice(at, 1);
    if (share.waiting.length === 0) this.#queues.splice(this.#queues.indexOf(share), 1);
  }

  #meet(share: Share): void {
    const isFirst = this.#latest === undefined;
    this.#latest = share;
    if (isFirst) return;
    this.#metAt = this.#now();
    if (this.#contended) return;
    this.#contended = true;
    this.#watch = setInterval(() => this.#part(), ALONE_MS / 2).unref();
  }

  #part(): void {
    // Of a turn that takes longer than this, those who waited meanwhile were not met yet.
    if (this.#queues.length > 0 || this.#now() - this.#metAt < ALONE_MS) return;
    this.#contended = false;
    clearInterval(this.#watch);
  }

  #admitsAlone(share: Share): boolean {
    if (share.waiting.length > 0 || this.#begun >= ALONE_A_TURN) return false;
    if (++this.#begun === UNWATCHED) this.#schedule();
    return true;
  }

  #admitsNow(share: Share): boolean {
    if (share.waiting.length > 0 || share.active > 0 || share.turn === this.#turn) return false;
    share.turn = this.#turn;
    share.begunAt = this.#turnAt;
    this.#schedule();
    return true;
  }

  /** Immediates run once a turn, after what has arrived: between two, whatever else arrived has had its say. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#onTurn());
    if (this.#queues.length === 0) return;
    // One for each, so that what a call does before it waits is seen in the time that the turn has taken.
    for (let i = 1; i < MOST_A_TURN; i++) setImmediate(() => this.#onRest());
  }

  #onTurn(): void {
    const now = this.#now();
    this.#scheduled = false;
    this.#turn++;
    this.#begun = 0;
    this.#busy = now - this.#turnAt > LONG_TURN_MS;
    this.#turnAt = now;
    this.#beginNext();
    if (this.#queues.length > 0) this.#schedule();
  }

  #onRest(): void {
    if (this.#queues.length > 0 && this.#now() - this.#turnAt < SLICE_MS) this.#beginNext();
  }

  #beginNext(): void {
    for (let left = this.#queues.length; left > 0; left--) {
      const share = this.#queues.shift() as Share;
      const mayBegin = this.#hasTime(share) || this.#turnAt - share.begunAt > STALL_MS;
      const begin = mayBegin ? share.waiting.shift() : undefined;
      if (share.waiting.length > 0) this.#queues.push(share);
      if (begin === undefined) continue;
      share.turn = this.#turn;
      share.begunAt = this.#turnAt;
      begin();
      return;
    }
  }

  #hasTime(share: Share): boolean {
    const isUnderWay = share.active > 0;
    if (isUnderWay && this.#busy) share.busyTurn = this.#turn;
    if (isUnderWay) return !this.#busy;
    return !this.#contended || this.#turn - share.busyTurn > REST_TURNS;
  }
}
