import { LRUCache } from "lru-cache";

/** Lets so many through at once and so many more a second, for each key. */
export interface RateLimit {
  /** Takes one; returns 0, or the seconds until the next is free. */
  take(key: string): number;
}

const MAX_KEYS = 50_000;

/** A token bucket for each key. */
export function createRateLimit(perSecond: number, burst: number): RateLimit {
  const buckets = new LRUCache<string, { left: number; at: number }>({ max: MAX_KEYS });
  return {
    take(key) {
      const now = performance.now();
      let bucket = buckets.get(key);
      if (bucket === undefined) {
        bucket = { left: burst, at: now };
        buckets.set(key, bucket);
      }
      bucket.left = Math.min(burst, bucket.left + ((now - bucket.at) / 1000) * perSecond);
      bucket.at = now;
      if (bucket.left < 1) return (1 - bucket.left) / perSecond;
      bucket.left--;
      return 0;
    },
  };
}
