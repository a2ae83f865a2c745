import type { LRUCache } from "lru-cache";
import { Bucket, type Rate } from "./bucket.js";
import { recentlyUsed } from "./recently-used.js";

/** Token buckets of one rate by the name of their holder; the ones least recently used are forgotten. */
export class Buckets {
  readonly #rate: Rate;
  readonly #now: () => number;
  readonly #buckets: LRUCache<string, Bucket>;

  /**
   * @param max how many holders are remembered.
   * @param now milliseconds of a clock that only goes forward.
   */
  constructor(rate: Rate, max: number, now: () => number = () => performance.now()) {
    this.#rate = rate;
    this.#now = now;
    this.#buckets = recentlyUsed(max);
  }

  /** The bucket of a holder. */
  of(name: string): Bucket {
    return this.#bucketAt(name, this.#now());
  }

  /** Counts a call of a holder; returns 0, or the seconds to wait if it is one too many. */
  take(name: string): number {
    const now = this.#now();
    const bucket = this.#bucketAt(name, now);
    const wait = bucket.waitAt(now);
    if (wait === 0) bucket.take();
    return wait;
  }

  #bucketAt(name: string, now: number): Bucket {
    let bucket = this.#buckets.get(name);
    if (bucket === undefined) {
      bucket = new Bucket(this.#rate, now);
      this.#buckets.set(name, bucket);
    }
    return bucket;
  }
}
