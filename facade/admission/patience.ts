import { LRUCache } from "lru-cache";
import { Bucket, type Rate } from "../../services/shared/limits/bucket.js";
import type { Arrival } from "./admit.js";

/** What strangers of one address may ask: at once, and then a second. An office behind one address asks less. */
const PATIENCE: Rate = { burst: 256, perSecond: 128 };
const MAX_ADDRESSES = 10_000;

/** A request that a stranger may have sent. */
export interface Strangers extends Arrival {
  /** See Exchange. */
  postpone(): void;
}

/**
 * How much is borne of those whom nobody knows: requests that are refused, and
 * what is public. Beyond it their answers wait until there is time. Who is let
 * in never asks here.
 */
export interface Patience {
  /** Counts a stranger's request, and postpones it where it is one too many. */
  with(request: Strangers): void;
}

/** What patience is made of. */
export interface PatienceOptions {
  /** Where the client is: behind proxies not the address of the connection. */
  readonly addressOf: (arrival: Arrival) => string;
  /** Absent for PATIENCE. */
  readonly rate?: Rate | undefined;
}

/** Begins with patience for everybody. @param now milliseconds of a clock that only goes forward. */
export function createPatience(
  { addressOf, rate = PATIENCE }: PatienceOptions,
  now = () => performance.now(),
): Patience {
  const left = new LRUCache<string, Bucket>({ max: MAX_ADDRESSES });
  return {
    with(request) {
      const address = addressOf(request);
      const present = now();
      let bucket = left.get(address);
      if (bucket === undefined) {
        bucket = new Bucket(rate, present);
        left.set(address, bucket);
      }
      if (bucket.waitAt(present) === 0) bucket.take();
      else request.postpone();
    },
  };
}
