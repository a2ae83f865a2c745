/** How many calls may be made: a second in the long run, and at once. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** What was taken beyond what there was is owed, but no more than the growth of so many seconds. */
const MOST_OWED_S = 10;

/** A token bucket: it holds `burst` calls, and fills by `perSecond`. */
export class Bucket {
  readonly #rate: Rate;
  #left: number;
  #at: number;

  /** @param now milliseconds of a clock that only goes forward. */
  constructor(rate: Rate, now: number) {
    this.#rate = rate;
    this.#left = rate.burst;
    this.#at = now;
  }

  /** 0 where a call may be made now, else the seconds until one may be. */
  waitAt(now: number): number {
    const { perSecond, burst } = this.#rate;
    this.#left = Math.min(burst, this.#left + ((now - this.#at) / 1000) * perSecond);
    this.#at = now;
    return this.#left >= 1 ? 0 : (1 - this.#left) / perSecond;
  }

  /** Takes a call that may be made. */
  take(): void {
    this.#left--;
  }

  /** Takes what was done already, be it there or not; less than nothing gives back. */
  charge(calls: number): void {
    const { perSecond, burst } = this.#rate;
    this.#left = Math.min(burst, Math.max(this.#left - calls, -MOST_OWED_S * perSecond));
  }

  /** How many calls are taken that have not grown again, as of when it was last asked. */
  get taken(): number {
    return this.#rate.burst - this.#left;
  }
}
