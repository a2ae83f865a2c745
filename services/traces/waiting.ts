import { exhaustedFor } from "../shared/limits/refusal.js";

/** What may wait at once for the threads that read and keep long exports. */
export interface WaitingLimits {
  /** Exports of one sender. */
  readonly exports: number;
  /** Bytes of one sender: two of the longest exports. */
  readonly bytes: number;
  readonly allExports: number;
  readonly allBytes: number;
}

/** What holds where nothing else is said. */
export const WAITING_LIMITS: WaitingLimits = { exports: 8, bytes: 36 << 20, allExports: 128, allBytes: 128 << 20 };

/** When to send again what finds no place, in seconds. */
const RETRY_S = 5;

interface Amount {
  readonly exports: number;
  readonly bytes: number;
}

/** Counts exports that wait, of each sender and of all. */
export class Waiting {
  readonly #bySender = new Map<string, Amount>();
  #all: Amount = { exports: 0, bytes: 0 };

  constructor(private readonly limits: WaitingLimits = WAITING_LIMITS) {}

  /**
   * Takes a place; the function gives it back.
   *
   * @throws ConnectError resource_exhausted, with when to send again.
   */
  enter(sender: string, bytes: number): () => void {
    const { limits } = this;
    const own = plus(this.#bySender.get(sender), 1, bytes);
    const all = plus(this.#all, 1, bytes);
    if (own.exports > limits.exports || own.bytes > limits.bytes) {
      throw exhaustedFor(
        `too many of your exports are in progress: wait ${RETRY_S} s, then send this one again`,
        RETRY_S,
      );
    }
    if (all.exports > limits.allExports || all.bytes > limits.allBytes) {
      throw exhaustedFor(`too many exports are in progress: wait ${RETRY_S} s, then send this one again`, RETRY_S);
    }
    this.#bySender.set(sender, own);
    this.#all = all;
    return () => {
      const left = plus(this.#bySender.get(sender), -1, -bytes);
      if (left.exports === 0) this.#bySender.delete(sender);
      else this.#bySender.set(sender, left);
      this.#all = plus(this.#all, -1, -bytes);
    };
  }
}

function plus(amount: Amount = { exports: 0, bytes: 0 }, exports: number, bytes: number): Amount {
  return { exports: amount.exports + exports, bytes: amount.bytes + bytes };
}
