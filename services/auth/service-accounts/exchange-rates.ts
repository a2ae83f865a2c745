import { LRUCache } from "lru-cache";
import { Bucket, type Rate } from "../../shared/limits/bucket.js";

/** How often each service account may exchange an assertion at this process. */
export interface ExchangeRates {
  /** Counts an exchange; 0, or the seconds to wait where it is one too many. */
  waitOf(accountId: string): number;
}

/** What an exchange gives lives five minutes; each user that an account acts for needs one. */
const RATE: Rate = { perSecond: 5, burst: 100 };
const KEPT = 10_000;

/** Nobody has exchanged any yet. */
export function createExchangeRates(rate: Rate = RATE, now = () => performance.now()): ExchangeRates {
  const buckets = new LRUCache<string, Bucket>({ max: KEPT });
  return {
    waitOf(accountId) {
      const at = now();
      const bucket = buckets.get(accountId) ?? new Bucket(rate, at);
      buckets.set(accountId, bucket);
      const wait = bucket.waitAt(at);
      if (wait === 0) bucket.take();
      return wait;
    },
  };
}
